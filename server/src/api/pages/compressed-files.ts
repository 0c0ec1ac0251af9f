/**
 * Serves files that the build has stored only in compressed form: `name.gz`, and `name.br` where it pays off. They take a third
 * of the space and are sent unchanged.
 */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import express, { type RequestHandler } from 'express';

/** The smallest first, regardless of the order in which a caller lists them. */
const FORMS = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;

/**
 * Files without a compressed form are left to the next handler. Each form has its own ETag.
 *
 * @param folder its files change only with a build
 */
export function compressedFiles(folder: string, cacheControl: string): RequestHandler {
  const files = express.static(folder, { index: false, redirect: false, cacheControl: false });
  const stored = new Set(existsSync(folder) ? readdirSync(folder) : []);
  return async (request, response, next) => {
    const name = request.path.slice(1);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || !stored.has(`${name}.gz`)) {
      next();
      return;
    }
    response.vary('Accept-Encoding');
    response.type(extname(name));
    response.setHeader('Cache-Control', cacheControl);
    const form = FORMS.find(
      ({ encoding, ending }) =>
        stored.has(name + ending) && request.acceptsEncodings(encoding) === encoding,
    );
    if (form === undefined) {
      response.send(await promisify(gunzip)(await readFile(join(folder, `${name}.gz`))));
      return;
    }
    response.setHeader('Content-Encoding', form.encoding);
    request.url = request.path + form.ending;
    files(request, response, next);
  };
}

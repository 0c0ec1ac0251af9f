/** Bodies of responses: how the bytes of each media type are decoded, and how reading them is limited. */
import { pipeline, Readable } from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeBody, readBytes } from '../../../src/step-bodies/http-request/answer-body.js';

const JSON_TYPE = 'application/json';

describe('decodeBody', () => {
  it.each([
    ['{"a":[1,null,true,"x"]}', JSON_TYPE, { a: [1, null, true, 'x'] }],
    ['\ufeff{"a":1}', 'application/problem+json; charset=utf-8', { a: 1 }],
    ['"x"', 'TEXT/JSON', 'x'],
    ['null', JSON_TYPE, null],
    ['{"a":', JSON_TYPE, '{"a":'],
    ['NaN', JSON_TYPE, 'NaN'],
    ['{"a":NaN}', JSON_TYPE, '{"a":NaN}'],
    ['{"a":1e999}', JSON_TYPE, '{"a":1e999}'],
    ['9007199254740991', JSON_TYPE, 9007199254740991],
    ['9007199254740993', JSON_TYPE, 9007199254740993n],
    ['{"id":[-123456789012345678901]}', JSON_TYPE, { id: [-123456789012345678901n] }],
    ['{"a":1e16,"b":-0.0}', JSON_TYPE, { a: 1e16, b: -0 }],
    ['9'.repeat(1001), JSON_TYPE, '9'.repeat(1001)],
    ['0.1', JSON_TYPE, 0.1],
    ['"\\ud800"', JSON_TYPE, '"\\ud800"'],
    ['{"\\udc00":1}', JSON_TYPE, '{"\\udc00":1}'],
    ['"\\ud83d\\ude00"', JSON_TYPE, '😀'],
    ['{"a":1}', 'text/plain', '{"a":1}'],
    ['<a/>', 'application/xml', '<a/>'],
    ['<svg/>', 'image/svg+xml', '<svg/>'],
    ['a,b', 'text/csv; header=present', 'a,b'],
    ['a: 1', 'application/yaml', 'a: 1'],
    ['plain', '', 'plain'],
    ['plain', 'application/octet-stream', 'cGxhaW4='],
    ['x', 'text/plain; charset=klingon', 'x'],
    ['', JSON_TYPE, null],
    ['', 'text/plain', null],
  ])('decodes %j as %j: %o', (text, contentType, value) => {
    expect(decodeBody(Buffer.from(text), contentType)).toEqual(value);
  });

  it('reads other charsets', () => {
    expect(decodeBody(Buffer.from([0xfc]), 'text/plain; charset="ISO-8859-1"')).toBe('ü');
    expect(decodeBody(Buffer.from('ü', 'utf16le'), 'text/plain;CHARSET=utf-16le')).toBe('ü');
  });

  it('replaces invalid UTF-8 in text, and returns bytes without a media type as base64', () => {
    expect(decodeBody(Buffer.from([0x61, 0xff]), 'text/plain')).toBe('a\ufffd');
    expect(decodeBody(Buffer.from([0x61, 0xff]), '')).toBe('Yf8=');
    expect(decodeBody(Buffer.from([0x89, 0x50]), 'image/png')).toBe('iVA=');
  });

  it('keeps JSON that is nested too deeply as text, at any depth', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(decodeBody(Buffer.from(nested(64)), JSON_TYPE)).toBeTypeOf('object');
    for (const depth of [65, 1000, 1_000_000]) {
      expect(decodeBody(Buffer.from(nested(depth)), JSON_TYPE)).toBe(nested(depth));
    }
  });

  it('keeps a field named __proto__ as a field', () => {
    const value = decodeBody(Buffer.from('{"__proto__":{"a":1}}'), JSON_TYPE);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1}}');
  });
});

const stream = (...chunks: Buffer[]) => Readable.from(chunks, { objectMode: false });
const readCoded = (source: Readable, contentEncoding: string, bytesMax: number) =>
  readBytes(source, { contentEncoding, transferEncoding: '' }, bytesMax);
const text = Buffer.from('hello '.repeat(100));

function closing(source: Readable): Promise<void> {
  source.on('error', () => undefined);
  return new Promise((resolve) => source.on('close', resolve));
}

/** More than HTTP allows: it would be memory of the server. */
const WIDE_WINDOW = {
  [constants.ZSTD_c_windowLog]: 27,
  [constants.ZSTD_c_contentSizeFlag]: 0,
};

describe('readBytes', () => {
  it.each([
    ['', text],
    ['identity', text],
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['deflate, gzip', gzipSync(deflateSync(text))],
    ['utf-8', text],
  ])('decodes the content coding %j', async (coding, bytes) => {
    expect(await readCoded(stream(bytes), coding, 1000)).toEqual(text);
    expect(await readCoded(stream(bytes.subarray(0, 7), bytes.subarray(7)), coding, 1000)).toEqual(
      text,
    );
  });

  it('accepts a body of exactly the limit, and not one byte more', async () => {
    expect(await readCoded(stream(text), '', 600)).toHaveLength(600);
    await expect(readCoded(stream(text), '', 599)).rejects.toThrow('larger than 599 bytes');
    expect(await readCoded(stream(gzipSync(text)), 'gzip', 600)).toHaveLength(600);
    await expect(readCoded(stream(gzipSync(text)), 'gzip', 599)).rejects.toThrow('larger than');
  });

  it.each([
    ['gzip', createGzip],
    ['br', createBrotliCompress],
    ['deflate', createDeflate],
    ['zstd', createZstdCompress],
  ])('stops an endless %s bomb at the limit', async (coding, createCompressor) => {
    function* zeros() {
      for (;;) yield Buffer.alloc(65_536);
    }
    const bomb = pipeline(Readable.from(zeros()), createCompressor(), () => undefined);
    const closed = closing(bomb);
    await expect(readCoded(bomb, coding, 1024 * 1024)).rejects.toThrow('larger than');
    await closed;
  });

  it('stops compressed bytes that decompress to nothing', async () => {
    async function* endless() {
      const member = gzipSync(Buffer.alloc(0));
      for (;;) yield Buffer.concat(Array.from({ length: 500 }, () => member));
    }
    await expect(
      readCoded(Readable.from(endless(), { objectMode: false }), 'gzip', 100_000),
    ).rejects.toThrow('larger than');
  });

  it('stops data between two codings if the second one produces nothing', async () => {
    const nothings = Buffer.concat(Array.from({ length: 10_000 }, () => gzipSync(Buffer.alloc(0))));
    const twice = gzipSync(nothings);
    expect(twice.length).toBeLessThan(100_000);
    await expect(readCoded(Readable.from([twice]), 'gzip, gzip', 100_000)).rejects.toThrow(
      'larger than',
    );
  });

  it.each([
    ['gzip', gzipSync(text).subarray(0, -12)],
    ['gzip', Buffer.from('not compressed')],
    ['br', Buffer.from('not compressed')],
    ['br', brotliCompressSync(text).subarray(0, -4)],
    ['deflate', Buffer.from('not compressed')],
    ['zstd', Buffer.from('not compressed')],
    ['zstd', zstdCompressSync(text).subarray(0, -4)],
    ['zstd', zstdCompressSync(Buffer.alloc(20_000_000), { params: WIDE_WINDOW })],
  ])('reports a broken %s body', async (coding, bytes) => {
    await expect(readCoded(stream(bytes), coding, 1000)).rejects.toThrow(
      'could not be decompressed',
    );
  });

  it.each([
    ['', 'gzip', gzipSync(text)],
    ['', 'Deflate, chunked', deflateSync(text)],
    ['gzip', 'deflate, chunked', deflateSync(gzipSync(text))],
    ['utf-8', 'gzip', gzipSync(text)],
    ['gzip', 'compress', gzipSync(text)],
  ])('decodes the content coding %j after the transfer coding %j', async (...parts) => {
    const [contentEncoding, transferEncoding, bytes] = parts;
    const fields = { contentEncoding, transferEncoding };
    expect(await readBytes(stream(bytes), fields, 1000)).toEqual(text);
    await expect(readBytes(stream(bytes), fields, 599)).rejects.toThrow('larger than');
  });

  it('counts both kinds of codings together', async () => {
    const fields = { contentEncoding: 'gzip, gzip', transferEncoding: 'gzip, gzip, chunked' };
    await expect(readBytes(stream(text), fields, 1000)).rejects.toThrow('more than 3 times');
  });

  it('rejects a long list of codings', async () => {
    await expect(readCoded(stream(text), 'gzip, gzip, gzip, gzip', 1000)).rejects.toThrow(
      'more than 3 times',
    );
  });

  it.each([
    ['', text],
    ['gzip', gzipSync(text)],
  ])('closes its source when it stops, with the coding %j', async (coding, bytes) => {
    const source = stream(bytes, bytes, bytes);
    const closed = closing(source);
    await expect(readCoded(source, coding, 100)).rejects.toThrow('larger than');
    await closed;
  });
});

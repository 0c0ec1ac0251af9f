/** Serves the interactive API reference from files in this package. It loads nothing from other sites. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Express, Request, Response } from 'express';
import { API_DOCUMENT_FILE } from '../http/api-document.js';
import { compressedFiles } from './compressed-files.js';

/** Copied by the build out of `swagger-ui-dist`. The same path relative to `src/api` and to `dist/api`. */
const FOLDER = fileURLToPath(new URL('../../../dist/swagger-ui/', import.meta.url));
const CACHE_CONTROL = 'public, max-age=3600';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Stepwright API</title>
    <link rel="stylesheet" href="/swagger/swagger-ui.css">
    <link rel="stylesheet" href="/swagger/contrast.css">
    <link rel="icon" href="/swagger/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/swagger/swagger-ui-bundle.js"></script>
    <script src="/swagger/start.js"></script>
  </body>
</html>
`;

/** The first is Conductor's; the others are where people and generators expect it. */
const DOCUMENT_PATHS = ['/swagger/v1/swagger.json', '/swagger.json', '/openapi.json'];

// A separate file, so that the page can forbid inline scripts.
const START_SCRIPT = `SwaggerUIBundle({
  url: '/swagger/v1/swagger.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayOperationId: true,
  tryItOutEnabled: true,
});
`;

// Swagger UI's own colors have too little contrast to be read easily (WCAG 2.2, at least 4.5).
const CONTRAST_STYLES = `.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1b62b5; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1d7a4f; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #985200; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b7568; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e; }
.swagger-ui .opblock .opblock-summary-method { text-shadow: none; }
.swagger-ui .info .title small { background: #4d5a6a; }
.swagger-ui .info .title small.version-stamp { background: #1d7a4f; }
.swagger-ui .info .title small pre { color: #fff; }
.swagger-ui .info a, .swagger-ui .info .link .url { color: #1b62b5; }
.swagger-ui .btn.authorize { border-color: #1d7a4f; color: #1d7a4f; }
.swagger-ui .btn.authorize svg { fill: #1d7a4f; }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #505050; }
`;

// The page sets styles on elements, and its icons are data URLs.
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function registerSwaggerPage(app: Express): void {
  const document = readFileSync(API_DOCUMENT_FILE);
  const send = (type: string, body: string | Buffer) => (_request: Request, response: Response) => {
    response.setHeader('Content-Security-Policy', PAGE_POLICY);
    response.type(type).send(body);
  };
  app.get('/swagger', send('html', PAGE));
  app.get('/swagger/start.js', send('js', START_SCRIPT));
  app.get('/swagger/contrast.css', send('css', CONTRAST_STYLES));
  for (const path of DOCUMENT_PATHS) app.get(path, send('json', document));
  app.use('/swagger', compressedFiles(FOLDER, CACHE_CONTROL));
  app.get('/swagger/favicon-32x32.png', (_request, response) => {
    response.setHeader('Cache-Control', CACHE_CONTROL);
    response.sendFile('favicon-32x32.png', { root: FOLDER });
  });
}

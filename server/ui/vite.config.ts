/** How the operator's page becomes static files. The server serves them below `/ui/`; nothing is loaded from elsewhere. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const ASSETS = fileURLToPath(new URL('dist/assets/', import.meta.url));
/** Smaller than this, a file fits into one packet as it is. */
const COMPRESSED_BYTES_MIN = 1400;

/** Beside each file of the page its compressed forms, which the server hands out as they are. */
function compressFiles(): Plugin {
  return {
    name: 'stepwright:compress-files',
    apply: 'build',
    async writeBundle() {
      for (const name of await readdir(ASSETS)) {
        const bytes = await readFile(ASSETS + name);
        if (bytes.length < COMPRESSED_BYTES_MIN) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
        await writeFile(`${ASSETS}${name}.br`, await promisify(brotliCompress)(bytes, { params }));
        await writeFile(`${ASSETS}${name}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [compressFiles()],
  base: '/ui/',
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: {
    // The sources, so that the page need not wait until the SDK is compiled.
    alias: {
      '@stepwright/sdk': fileURLToPath(new URL('../../sdk/src/index.ts', import.meta.url)),
    },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The page's policy lets images be data, and nothing else.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    modulePreload: { polyfill: false },
    // "use client" means nothing where there is only a client; a busy machine is no news.
    rolldownOptions: { checks: { moduleLevelDirective: false, bundlerTimings: false } },
  },
  // `pnpm --filter @stepwright/ui exec vite`: a server with hot reload in front of one that runs already.
  server: { proxy: { '/api': 'http://127.0.0.1:5001', '/schemas': 'http://127.0.0.1:5001' } },
});

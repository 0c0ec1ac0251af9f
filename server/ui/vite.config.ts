/**
 * Builds the operator's page as static files, which the server serves below `/ui/`. It loads nothing from other sites.
 */
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const ASSETS = fileURLToPath(new URL('dist/assets/', import.meta.url));
/** Smaller files fit into one packet uncompressed. */
const COMPRESSED_BYTES_MIN = 1400;

/** Replaces each file by its compressed forms, which the server sends as they are. */
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
        await unlink(ASSETS + name);
      }
    },
  };
}

export default defineConfig({
  plugins: [compressFiles()],
  base: '/ui/',
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: {
    // The sources, so that building the page does not require a compiled SDK.
    alias: {
      '@stepwright/sdk': fileURLToPath(new URL('../../sdk/src/index.ts', import.meta.url)),
    },
  },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The page's policy allows data URLs for images only.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    modulePreload: { polyfill: false },
    // "use client" has no meaning in a page without server components, and slow plugins are expected on a busy machine.
    rolldownOptions: { checks: { moduleLevelDirective: false, bundlerTimings: false } },
  },
  // `pnpm --filter @stepwright/ui exec vite` starts a server with hot reload in front of a running Stepwright server.
  server: { proxy: { '/api': 'http://127.0.0.1:5001', '/schemas': 'http://127.0.0.1:5001' } },
});

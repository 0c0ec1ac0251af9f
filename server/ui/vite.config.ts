/** How the operator's page becomes static files. The server serves them below `/ui/`; nothing is loaded from elsewhere. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
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

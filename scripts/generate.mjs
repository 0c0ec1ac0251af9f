/** The old path of build/generate.mjs. Called by: tools outside of the repository. */
import { fileURLToPath } from 'node:url';

process.argv[1] = fileURLToPath(new URL('build/generate.mjs', import.meta.url));
await import('./build/generate.mjs');

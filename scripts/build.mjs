/** The old path of build/build.mjs. Called by: tools outside of the repository. */
import { fileURLToPath } from 'node:url';

process.argv[1] = fileURLToPath(new URL('build/build.mjs', import.meta.url));
await import('./build/build.mjs');

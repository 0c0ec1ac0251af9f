/** Starts the database thread, from the compiled output or from the sources. */
import { Worker } from 'node:worker_threads';
import type { ThreadOptions } from './thread-protocol.js';

const EXEC_ARGV = [
  // Node 22 and 24 print a warning for `node:sqlite`, which does not help operators.
  '--disable-warning=ExperimentalWarning',
  // A profile of the server includes this thread.
  ...process.execArgv.filter((argument) => argument.startsWith('--cpu-prof')),
];

export function startThread(workerData: ThreadOptions): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const url = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url);
  return new Worker(isSource ? sourceLoader(url) : url, { workerData, execArgv: EXEC_ARGV });
}

/**
 * A module that loads a source file. Node strips the types, but does not resolve an import of `./x.js` to `./x.ts`.
 * Under Vitest and tsx, the main thread has loaders for that, but a worker thread does not inherit all of them.
 */
function sourceLoader(url: URL): URL {
  const code = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        const isOwn = specifier.startsWith('.') && specifier.endsWith('.js');
        return next(isOwn ? specifier.slice(0, -3) + '.ts' : specifier, context);
      },
    });
    await import(${JSON.stringify(url.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/**
 * The module that a worker thread loads: the compiled one, or, when the server runs from its sources, the source.
 *
 * Node strips the types of a source, but does not resolve an import of `./x.js` to `./x.ts`. Under Vitest and tsx, the main
 * thread has loaders for that, but a worker thread does not inherit all of them.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Node strips types with WebAssembly. After 1000 calls from WebAssembly to a JavaScript function, V8 compiles a wrapper
 * for them, which all threads of the process share. Up to V8 13.6 (Node 24), a thread may take a wrapper that another thread
 * is just freeing: the process dies with SIGSEGV, or with SIGILL after "Check failed: jit_page.has_value()". So V8 must not
 * compile any. A compiled server has no WebAssembly in its threads.
 */
const NO_SHARED_WRAPPERS = `--wasm-wrapper-tiering-budget=${2 ** 30}`;

/**
 * @param importer `import.meta.url` of the caller
 * @param name the module, relative to the caller and without its extension
 */
export function threadEntry(importer: string, name: string): URL {
  if (!importer.endsWith('.ts')) return new URL(`${name}.js`, importer);
  setFlagsFromString(NO_SHARED_WRAPPERS);
  const source = new URL(`${name}.ts`, importer);
  const code = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        const isOwn = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts');
        return next(isOwn ? specifier.slice(0, -3) + '.ts' : specifier, context);
      },
    });
    await import(${JSON.stringify(source.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

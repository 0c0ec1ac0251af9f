/**
 * The module that a worker thread loads: the compiled one, or, when the server runs from its sources, the source.
 *
 * Node strips the types of a source, but does not resolve an import of `./x.js` to `./x.ts`. Under Vitest and tsx, the main
 * thread has loaders for that, but a worker thread does not inherit all of them.
 */

/**
 * @param importer `import.meta.url` of the caller
 * @param name the module, relative to the caller and without its extension
 */
export function threadEntry(importer: string, name: string): URL {
  if (!importer.endsWith('.ts')) return new URL(`${name}.js`, importer);
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

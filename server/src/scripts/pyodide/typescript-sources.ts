/**
 * Allows an interpreter's process to start from TypeScript sources, as in tests and `pnpm dev`: Node strips the types,
 * and this hook resolves `./frames.js` to `./frames.ts`. Preloaded with `--import`; not used by a build.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isOwnSource = specifier.startsWith('./') && context.parentURL?.endsWith('.ts') === true;
    return nextResolve(isOwnSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});

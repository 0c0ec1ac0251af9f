/**
 * Lets an interpreter's process start from TypeScript sources, as tests and `pnpm dev` do: Node strips the types, and
 * this hook finds `./frames.ts` where the source says `./frames.js`. Preloaded with `--import`; not used by a build.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isOwnSource = specifier.startsWith('./') && context.parentURL?.endsWith('.ts') === true;
    return nextResolve(isOwnSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});

// Which part of the server may import which. Run inside this package: `pnpm check:deps`.
const DRIVERS = '(^|/)node_modules/(mongodb|ioredis|pyodide|undici)/|^node:sqlite$|^sqlite$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'engine-is-pure',
      comment:
        'The engine decides from values alone: no packages, no platform, no other part of the server.',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: { pathNot: '^src/engine/', path: '.' },
    },
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one, or lack a third; types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'only-adapters-touch-drivers',
      comment: 'Databases, Redis, Python and outgoing HTTP are behind their contracts.',
      severity: 'error',
      from: {
        pathNot: '^src/(store|backplane|scripts|step-bodies)/(?!records/)[^/]+/|^src/step-bodies/',
      },
      to: { path: DRIVERS },
    },
    {
      name: 'only-compose-names-adapters',
      comment: 'Everybody else knows the contract: store.ts, backplane.ts, script-runtime.ts.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(compose\\.ts|store/|backplane/|scripts/)',
      },
      // What is stored is part of the contract.
      to: { path: '^src/(store|backplane|scripts)/(?!records/)[^/]+/' },
    },
    {
      name: 'adapters-stay-apart',
      comment:
        'An adapter knows its own contract, not its siblings; what they share lies beside the contract.',
      severity: 'error',
      from: { path: '^src/(store|backplane|scripts)/([^/]+)/' },
      to: {
        path: '^src/(store|backplane|scripts)/(?!records/)[^/]+/',
        // What is known about expressions before any interpreter sees them is no adapter.
        pathNot: '^src/$1/$2/|^src/scripts/expressions/',
      },
    },
    {
      name: 'runtime-does-not-know-http',
      comment: 'The API calls the host; nothing below knows that there is an API.',
      severity: 'error',
      from: { path: '^src/(runtime|store|backplane|scripts|step-bodies)/' },
      to: { path: '^src/(api|generated)/|(^|/)node_modules/(express|@tsoa/runtime)/' },
    },
    {
      name: 'src-not-to-test',
      comment: 'What is shipped does not lean on tests.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/|(^|/)node_modules/(vitest|fast-check|testcontainers)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['import', 'node', 'default', 'types'] },
  },
};

// The allowed imports between the parts of the server. To check them, run `pnpm check:deps` in this package.
const DRIVERS = '(^|/)node_modules/(mongodb|ioredis|pg|pyodide|undici)/|^node:sqlite$|^sqlite$';

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
      comment:
        'Files must not import each other in a cycle, not even types: merge them, or extract a third file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'engine-folders-form-no-cycle',
      comment:
        'From the bottom: values, model, definitions, session, failure, primitives, repair, flow. Move what two share down.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/engine/' },
      to: { circular: true },
    },
    {
      name: 'runtime-folders-form-no-cycle',
      comment:
        'Instance-state is below instances, and these are below operations: move what two folders share down.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/runtime/' },
      to: { circular: true },
    },
    {
      name: 'runtime-root-is-the-top',
      comment:
        'The files beside the folders of the runtime connect them, so the folders import none of these files.',
      severity: 'error',
      from: { path: '^src/runtime/[^/]+/' },
      to: { path: '^src/runtime/[^/]+\\.ts$' },
    },
    {
      name: 'runtime-model-is-the-bottom',
      comment: 'All folders of the runtime share its model, so the model imports none of them.',
      severity: 'error',
      from: { path: '^src/runtime/model/' },
      to: { path: '^src/runtime/(?!model/)' },
    },
    {
      name: 'only-adapters-touch-drivers',
      comment: 'Databases, Redis, Python and outgoing HTTP are used only behind their contracts.',
      severity: 'error',
      from: {
        pathNot:
          '^src/(store|backplane|scripts|step-bodies)/(?!records/)[^/]+/|^src/step-bodies/|^src/postgres/servers\\.ts$',
      },
      to: { path: DRIVERS },
    },
    {
      name: 'only-compose-names-adapters',
      comment:
        'All other code imports only the contract: store.ts, backplane.ts, script-runtime.ts.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(compose-(host|scripts)\\.ts|cli/files/offline-server\\.ts|store/|backplane/|scripts/)',
      },
      // The stored records are part of the contract.
      to: { path: '^src/(store|backplane|scripts)/(?!records/)[^/]+/' },
    },
    {
      name: 'adapters-stay-apart',
      comment:
        'An adapter imports its own contract, not its siblings; shared code is beside the contract.',
      severity: 'error',
      from: { path: '^src/(store|backplane|scripts)/([^/]+)/' },
      to: {
        // Two stores share store/sql/, which knows neither.
        path: '^src/(store|backplane|scripts)/(?!(records|sql)/)[^/]+/',
        // The analysis of expressions needs no interpreter, so it is not an adapter.
        pathNot: '^src/$1/$2/|^src/scripts/expressions/',
      },
    },
    {
      name: 'runtime-does-not-know-http',
      comment: 'The API calls the host; no other part imports the API.',
      severity: 'error',
      from: { path: '^src/(runtime|store|backplane|scripts|step-bodies)/' },
      to: { path: '^src/(api|generated)/|(^|/)node_modules/(express|@tsoa/runtime)/' },
    },
    {
      name: 'src-not-to-test',
      comment: 'Shipped code must not import tests.',
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

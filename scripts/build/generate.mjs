/**
 * Generates files from the controllers: tsoa's routes (not committed), the API description (committed), and from it the
 * types of the SDK (committed). Called by: `pnpm generate`, build.mjs, check/generated.mjs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMain, listFiles, root, runMain, runTool } from '../tool.mjs';
import { runStage } from './stage.mjs';

const ROUTES = 'server/src/generated/routes.ts';
export const DOCUMENT = 'server/openapi/openapi.json';
export const SDK_SCHEMA = 'sdk/src/generated/schema.ts';
const GENERATORS = ['scripts/build/generate.mjs', 'scripts/build/openapi-document.mjs'];

export async function generateApi() {
  await runStage({
    name: 'api',
    inputs: ['server/src/api', 'server/tsoa.json', 'server/tsconfig.json', ...GENERATORS],
    outputs: [ROUTES, DOCUMENT],
    outputsAreInputs: true,
    run: async () => {
      runTool('tsoa', ['spec-and-routes', '--configuration', 'tsoa.json'], {
        cwd: join(root, 'server'),
      });
      // The routes do not compile with the strictest settings; our own code does.
      const routes = readFileSync(join(root, ROUTES), 'utf8');
      write(ROUTES, `// @ts-nocheck\n${routes}`);
      const { finishDocument } = await import('./openapi-document.mjs');
      const document = JSON.parse(readFileSync(join(root, '.cache/tsoa/openapi.json'), 'utf8'));
      write(DOCUMENT, `${JSON.stringify(finishDocument(document), null, 2)}\n`);
    },
  });
}

export async function generateSdkSchema() {
  const hasSources = listFiles('sdk/src').some((file) => file !== SDK_SCHEMA);
  if (!hasSources) return;
  await runStage({
    name: 'sdk schema',
    inputs: [DOCUMENT, 'scripts/build/generate.mjs'],
    outputs: [SDK_SCHEMA],
    outputsAreInputs: true,
    // A .ts file, because the compiler does not copy .d.ts files to the published types.
    run: () => runTool('openapi-typescript', [DOCUMENT, '--output', SDK_SCHEMA]),
  });
}

function write(path, text) {
  const absolute = join(root, path);
  if (existsSync(absolute) && readFileSync(absolute, 'utf8') === text) return;
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, text);
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await generateApi();
    await generateSdkSchema();
  });
}

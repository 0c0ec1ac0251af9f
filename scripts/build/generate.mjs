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
/** With the unions that only TypeScript can express. */
const SDK_DOCUMENT = '.cache/openapi/sdk.json';
export const SDK_SCHEMA = 'sdk/src/generated/schema.ts';
const GENERATORS = ['scripts/build/generate.mjs', 'scripts/build/openapi-document.mjs'];

export async function generateApi() {
  await runStage({
    name: 'api',
    inputs: ['server/src/api', 'server/tsoa.json', 'server/tsconfig.json', ...GENERATORS],
    outputs: [ROUTES, DOCUMENT, SDK_DOCUMENT],
    outputsAreInputs: true,
    run: async () => {
      runTool('tsoa', ['spec-and-routes', '--configuration', 'tsoa.json'], {
        cwd: join(root, 'server'),
      });
      write(ROUTES, finishRoutes(readFileSync(join(root, ROUTES), 'utf8')));
      const { finishDocument, forGenerators } = await import('./openapi-document.mjs');
      const generated = JSON.parse(readFileSync(join(root, '.cache/tsoa/openapi.json'), 'utf8'));
      const document = finishDocument(generated);
      write(SDK_DOCUMENT, JSON.stringify(document));
      write(DOCUMENT, `${JSON.stringify(forGenerators(document), null, 2)}\n`);
    },
  });
}

/** The routes do not compile with the strictest settings; our own code does. They validate with our own class. */
function finishRoutes(text) {
  const tsoas = 'fetchMiddlewares, ExpressTemplateService } from';
  const made = 'new ExpressTemplateService(';
  for (const part of [tsoas, made]) {
    if (!text.includes(part)) throw new Error(`tsoa no longer writes ${part}`);
  }
  const routes = text
    .replace(tsoas, 'fetchMiddlewares } from')
    .replace(made, 'new BodyTemplateService(');
  const own = `import { BodyTemplateService } from './../api/http/template-service.js';`;
  return `// @ts-nocheck\n${own}\n${routes}`;
}

export async function generateSdkSchema() {
  const hasSources = listFiles('sdk/src').some((file) => file !== SDK_SCHEMA);
  if (!hasSources) return;
  await runStage({
    name: 'sdk schema',
    inputs: [SDK_DOCUMENT, 'scripts/build/generate.mjs'],
    outputs: [SDK_SCHEMA],
    outputsAreInputs: true,
    // A .ts file, because the compiler does not copy .d.ts files to the published types.
    run: () => runTool('openapi-typescript', [SDK_DOCUMENT, '--output', SDK_SCHEMA]),
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

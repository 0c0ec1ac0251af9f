/**
 * Builds stale parts in dependency order:
 *
 *   controllers -> routes and openapi.json -> sdk/src/generated/schema.ts -> sdk -> worker-sdk
 *                  `-> server/dist -> assets, Swagger UI and Prettier beside it -> the Python snapshot
 *   server/ui/src, sdk/src, plain-duration.ts -> server/ui/dist, in parallel to all of these
 *
 * Parts without sources are skipped.
 *
 * Called by: `pnpm build`, every script of package.json that needs the build, the `prepack` of both SDKs, the
 * Dockerfile.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { generateApi, generateSdkSchema } from './generate.mjs';
import { isMain, listFiles, root, runMain, startTool } from '../tool.mjs';
import { runStage } from './stage.mjs';

const SNAPSHOT_SCRIPT = 'server/scripts/build-python-snapshot.mjs';

export async function build() {
  const page = buildOperatorPage();
  // The first failure is reported; until then, the other one must not end the process.
  page.catch(() => undefined);
  await generateApi();
  await generateSdkSchema();
  await compilePackage('server', { output: 'server/dist' });
  await copyServerAssets();
  await copySwaggerUi();
  await copyPrettier();
  await buildPythonSnapshot();
  await compilePackage('sdk', { output: 'sdk/dist/index.js' });
  await compilePackage('worker-sdk', { output: 'worker-sdk/dist/index.js', uses: ['sdk/src'] });
  await page;
}

/** Depends only on generated types, so its bundler can run in parallel with the compilers. */
async function buildOperatorPage() {
  const folder = 'server/ui';
  if (!existsSync(join(root, folder, 'package.json'))) return;
  const sdkSources = listFiles('sdk/src').filter((file) => !file.includes('/generated/'));
  await runStage({
    name: 'ui',
    inputs: [
      ...['src', 'public', 'index.html', 'vite.config.ts', 'package.json'].map(
        (name) => `${folder}/${name}`,
      ),
      ...sdkSources,
      'server/src/runtime/explain/plain-duration.ts',
    ],
    outputs: [`${folder}/dist/index.html`],
    run: () =>
      startTool(`${folder}/node_modules/.bin/vite`, ['build', folder, '--logLevel', 'warn']),
  });
}

async function compilePackage(name, { output, uses = [] }) {
  if (!existsSync(join(root, name, 'tsconfig.json'))) return;
  await runStage({
    name,
    inputs: [`${name}/src`, `${name}/tsconfig.json`, `${name}/package.json`, ...uses],
    outputs: [output],
    run: async () => {
      await startTool('tsc', ['-p', `${name}/tsconfig.json`]);
      removeOrphans(name);
    },
  });
}

/** The compiler keeps the output of deleted sources, which would hide remaining imports of them. */
function removeOrphans(name) {
  for (const file of readdirSync(join(root, name, 'dist'), { recursive: true })) {
    if (file.startsWith('swagger-ui') || file.startsWith('prettier')) continue;
    const stem = /^(.*?)(\.d\.ts|\.js)(\.map)?$/.exec(file)?.[1];
    if (stem === undefined) continue;
    const sources = ['.ts', '.js'].map((ending) => join(root, name, 'src', stem + ending));
    if (!sources.some(existsSync)) rmSync(join(root, name, 'dist', file));
  }
}

/** Files that the server reads at run time and that the compiler does not copy, such as Python files. */
async function copyServerAssets() {
  const assets = listFiles('server/src').filter((file) => !file.endsWith('.ts'));
  const outputOf = (asset) => asset.replace('server/src/', 'server/dist/');
  if (assets.length === 0) return;
  await runStage({
    name: 'server assets',
    inputs: assets,
    outputs: assets.map(outputOf),
    run: () => {
      for (const asset of assets) {
        mkdirSync(join(root, dirname(outputOf(asset))), { recursive: true });
        copyFileSync(join(root, asset), join(root, outputOf(asset)));
      }
    },
  });
}

/**
 * Copies three files from its 12 MB package, so users don't have to install it, with the licenses of these files. Files that are
 * served compressed are stored compressed.
 */
async function copySwaggerUi() {
  const from = 'server/node_modules/swagger-ui-dist';
  const to = 'server/dist/swagger-ui';
  const compressed = ['swagger-ui.css', 'swagger-ui-bundle.js'];
  const files = ['favicon-32x32.png', 'LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];
  await runStage({
    name: 'swagger ui',
    // Its version is in the lockfile, an input of every stage.
    inputs: [],
    outputs: [...files, ...compressed.map((file) => `${file}.gz`)].map((file) => `${to}/${file}`),
    run: () => {
      rmSync(join(root, to), { recursive: true, force: true });
      mkdirSync(join(root, to), { recursive: true });
      for (const file of compressed) {
        const bytes = gzipSync(readFileSync(join(root, from, file)), { level: 9 });
        writeFileSync(join(root, to, `${file}.gz`), bytes);
      }
      for (const file of files) copyFileSync(join(root, from, file), join(root, to, file));
    },
  });
}

/** The parts of Prettier that format YAML and JSON: 1 MB of its 12 MB package. */
async function copyPrettier() {
  const from = 'server/node_modules/prettier';
  const to = 'server/dist/prettier';
  const plugins = ['babel', 'estree', 'yaml'].map((name) => `plugins/${name}.mjs`);
  const files = ['standalone.mjs', ...plugins, 'LICENSE', 'THIRD-PARTY-NOTICES.md'];
  await runStage({
    name: 'prettier',
    // Its version is in the lockfile, an input of every stage.
    inputs: [],
    outputs: files.map((file) => `${to}/${file}`),
    run: () => {
      rmSync(join(root, to), { recursive: true, force: true });
      mkdirSync(join(root, to, 'plugins'), { recursive: true });
      for (const file of files) copyFileSync(join(root, from, file), join(root, to, file));
    },
  });
}

/** A memory snapshot of a freshly started interpreter, so the server doesn't have to boot one from scratch. */
async function buildPythonSnapshot() {
  if (!existsSync(join(root, SNAPSHOT_SCRIPT))) return;
  await runStage({
    name: 'python snapshot',
    inputs: [SNAPSHOT_SCRIPT, 'server/src/scripts/pyodide', 'server/package.json'],
    outputs: ['server/dist/python-snapshots'],
    run: () => startTool('node', [SNAPSHOT_SCRIPT]),
  });
}

if (isMain(import.meta.url)) await runMain(build);

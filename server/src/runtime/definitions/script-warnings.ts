/** Warnings about a custom step's script, which is stored nevertheless. */
import type { DocumentProblem } from '../../engine/model/definition.js';
import type { ForbiddenImport, ScriptRuntime } from '../../scripts/script-runtime.js';

/** Alternatives to missing packages, which help more than the package's name. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ...['aiohttp', 'http', 'httpx', 'requests', 'socket', 'urllib3', 'urllib.request'].map(
    (name) => [name, 'Use an HttpRequest step for calls to other services.'] as const,
  ),
  ...['os', 'pathlib', 'subprocess', 'sys'].map(
    (name) => [name, 'Pass the value to the script as an input.'] as const,
  ),
  ['logging', 'Use print(), which writes to the server log.'],
  [
    'zoneinfo',
    'There are no named time zones. Use an offset, such as timezone(timedelta(hours=1)).',
  ],
]);

export async function scriptWarnings(
  source: string,
  scripts: ScriptRuntime,
): Promise<readonly DocumentProblem[]> {
  const found = (await scripts.findForbiddenImports?.(source)) ?? [];
  return found.map(warningAbout);
}

function warningAbout({ module, line, column, ...found }: ForbiddenImport): DocumentProblem {
  const warning = { code: 'module_not_importable', pointer: '', place: { line, column } };
  if (module.startsWith('.')) {
    const message = 'A script cannot use relative imports, because it is not part of a package.';
    return { ...warning, message };
  }
  const instead = INSTEAD.get(module) ?? INSTEAD.get(module.split('.')[0] ?? '');
  const near = instead === undefined ? found.near : null;
  const hint = instead ?? (near === null ? LIST : `Did you mean "${near}"?`);
  const message = `Custom steps cannot import "${module.slice(0, 200)}". ${hint}`;
  return { ...warning, message, ...(near !== null && { suggestion: near }) };
}

const LIST =
  'Custom steps run in a sandbox with part of the standard library and no other packages.';

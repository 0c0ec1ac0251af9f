/** Names the adapter of Python. Apart from compose-host.ts, so that a command can start Python before it loads the rest. */
import type { Logger } from './base/logger.js';
import { pythonLimits } from './config/limits.js';
import { visibleEnvironment } from './config/read-config.js';
import type { Config } from './config/settings.js';
import type { CallMoment } from './scripts/pyodide/frames.js';
import { createPyodideRuntime } from './scripts/pyodide/pyodide-script-runtime.js';
import type { ScriptRuntime } from './scripts/script-runtime.js';

export interface ScriptsOptions {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly chance?: { readonly nextMoment: () => CallMoment };
}

export function createScripts({
  chance,
  config,
  environment,
  logger,
}: ScriptsOptions): ScriptRuntime {
  return createPyodideRuntime({
    ...pythonLimits(config),
    environment: visibleEnvironment(environment, config),
    logger,
    ...(chance && { nextMoment: chance.nextMoment }),
  });
}

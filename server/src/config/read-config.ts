/** Turns the environment into one frozen configuration, or reports what is wrong with it. */
import { ConfigError } from '../base/config-error.js';
import { problemWithAccess } from './check-access.js';
import { problemWithPostgres } from './check-postgres.js';
import { isSecretName } from '../secrets/secret-source.js';
import type { Setting } from './setting.js';
import { SETTINGS, type Config, type SettingName } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings; names match in any case. @throws ConfigError that names the variable */
export function readConfig(environment: Environment): Config {
  const given = new Map<string, { readonly name: string; readonly text: string }>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value.trim() === '') continue;
    const lowerCase = name.toLowerCase();
    const other = given.get(lowerCase);
    if (other !== undefined && lowerCase in SETTINGS && other.text !== value.trim()) {
      throw new ConfigError(
        `${other.name} and ${name} are the same setting, but their values differ`,
      );
    }
    given.set(lowerCase, { name, text: value.trim() });
  }
  const config: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
    config[name] = readSetting(entry, given.get(name));
  }
  // Every name in SETTINGS has the value that its reader returned.
  const complete = config as unknown as Config;
  const problem = problemWithAccess(complete) ?? problemWithPostgres(complete);
  if (problem !== null) throw new ConfigError(problem);
  return Object.freeze(complete);
}

function readSetting(
  setting: Setting<unknown>,
  given: { readonly name: string; readonly text: string } | undefined,
): unknown {
  if (given === undefined) return setting.fallback;
  try {
    return setting.read(given.text);
  } catch (error) {
    const expected = error instanceof Error ? error.message : String(error);
    const shown = setting.secret === true ? '' : `, not '${given.text.slice(0, 100)}'`;
    throw new ConfigError(`${given.name} ${expected}${shown}`);
  }
}

/**
 * Visible while `auth` is on and `environment_allow` is unset: these names tell where a process runs, and hold no
 * secrets.
 */
const SAFE_NAMES: readonly string[] = ['HOSTNAME', 'LANG', 'LC_ALL', 'TZ'];

/**
 * The variables that `environment` contains in expressions. The server's own settings and copies of its secrets are
 * never visible. Of the others, those that the operator lists are visible. Without a list, all are visible if `auth` is
 * off (anybody may call the server then, and Conductor shows everything), and only `SAFE_NAMES` if it is on, because
 * authors of definitions are not operators there.
 */
export function visibleEnvironment(
  environment: Environment,
  config: Pick<Config, 'environment_allow' | 'auth'>,
): Record<string, string> {
  const allowed = config.environment_allow ?? (config.auth ? SAFE_NAMES : ['*']);
  const secrets = secretValues(environment);
  const visible: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || isOwnSetting(name) || isSecretVariable(name)) continue;
    // A copy of a secret under another name is still a secret.
    if (secrets.some((secret) => value.includes(secret))) continue;
    if (allowed.some((entry) => matches(entry, name))) visible[name] = value;
  }
  return visible;
}

/** The secrets that are given as variables, by the names after `secret_`, which is accepted in any case. */
export function secretVariables(environment: Environment): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '' || !isSecretVariable(name)) continue;
    const secret = name.slice(SECRET_PREFIX.length);
    if (isSecretName(secret)) secrets.set(secret, value);
  }
  return secrets;
}

const SECRET_PREFIX = 'secret_';

function isSecretVariable(name: string): boolean {
  return name.toLowerCase().startsWith(SECRET_PREFIX);
}

/** An entry that ends with `*` matches every name that starts with the text before it. */
function matches(entry: string, name: string): boolean {
  return entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry;
}

/** Headers for the collector may contain credentials. */
const COLLECTOR = /^OTEL_EXPORTER_/i;

function isOwnSetting(name: string): boolean {
  return Object.hasOwn(SETTINGS, name.toLowerCase()) || COLLECTOR.test(name);
}

function secretValues(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value.length > 3 && (isSecretSetting(name) || isSecretVariable(name))
      ? [value]
      : [],
  );
}

function isSecretSetting(name: string): boolean {
  const settings: Readonly<Record<string, Setting<unknown>>> = SETTINGS;
  return isOwnSetting(name) && settings[name.toLowerCase()]?.secret === true;
}

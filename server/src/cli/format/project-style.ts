/**
 * Reads a project's Prettier style from `.prettierrc` (JSON or YAML) or `package.json`, in the file's folder or the nearest
 * parent. Executable configurations aren't run.
 */
import path from 'node:path';
import { parse } from 'yaml';
import { getField, isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { readBounded } from '../files/bounded-files.js';
import type { Style } from './prettier.js';

const FILES = ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml'];

/** Null if the project has no such file. */
export async function projectStyle(file: string): Promise<Style | null> {
  let folder = path.dirname(path.resolve(file));
  for (;;) {
    const config = await configIn(folder);
    if (config !== null) return styleIn(config, path.relative(folder, path.resolve(file)));
    const above = path.dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
}

async function configIn(folder: string): Promise<JsonObject | null> {
  for (const name of FILES) {
    const config = await read(path.join(folder, name));
    if (config !== null) return config;
  }
  const manifest = await read(path.join(folder, 'package.json'));
  const config = manifest === null ? null : (getField(manifest, 'prettier') ?? null);
  return isJsonObject(config) ? config : null;
}

async function read(file: string): Promise<JsonObject | null> {
  try {
    const { bytes } = await readBounded(path.dirname(file), file);
    const value = parse(bytes.toString('utf8'), { logLevel: 'silent' }) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function styleIn(config: JsonObject, file: string): Style {
  const overrides = getField(config, 'overrides');
  const applied = Array.isArray(overrides) ? (overrides as readonly Json[]) : [];
  return applied
    .filter((override) => isJsonObject(override) && isFor(getField(override, 'files'), file))
    .map((override) => getField(override as JsonObject, 'options') ?? null)
    .filter((options) => isJsonObject(options))
    .reduce<Style>((style, options) => ({ ...style, ...optionsIn(options) }), optionsIn(config));
}

/** As in Prettier, a pattern without a slash matches the file name. */
function isFor(files: Json | undefined, file: string): boolean {
  const patterns = (Array.isArray(files) ? files : [files]) as readonly (Json | undefined)[];
  return patterns.some((pattern) => {
    if (typeof pattern !== 'string') return false;
    return path.matchesGlob(pattern.includes('/') ? file : path.basename(file), pattern);
  });
}

const IS_OPTION: Readonly<Record<keyof Style, (value: Json | undefined) => boolean>> = {
  bracketSpacing: isFlag,
  printWidth: isCount,
  proseWrap: (value) => ['always', 'never', 'preserve'].includes(value as string),
  singleQuote: isFlag,
  tabWidth: isCount,
  trailingComma: (value) => ['all', 'es5', 'none'].includes(value as string),
};

/** The options that Prettier would accept. */
function optionsIn(config: JsonObject): Style {
  return Object.fromEntries(
    Object.entries(IS_OPTION)
      .map(([name, isValid]) => [name, isValid, getField(config, name)] as const)
      .filter(([, isValid, value]) => isValid(value))
      .map(([name, , value]) => [name, value]),
  );
}

function isFlag(value: Json | undefined): boolean {
  return typeof value === 'boolean';
}

function isCount(value: Json | undefined): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= 1000;
}

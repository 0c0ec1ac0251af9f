/** Reads the examples from their folders. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { fencedBlocks, type FencedBlock } from './fenced-blocks.ts';
import { repository } from './run-command.ts';

export interface Example {
  /** The name of the folder, such as `05-activities`. */
  readonly name: string;
  readonly number: string;
  readonly readme: string;
  readonly blocks: readonly FencedBlock[];
  /** The files of the example: definitions, scripts, programs. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** The step types in these files, sorted. The last one is `a custom step`, if there are any. */
  readonly stepTypes: readonly string[];
}

export function readExamples(): Example[] {
  const folder = join(repository, 'examples');
  return readdirSync(folder)
    .filter((name) => /^\d\d-/.test(name))
    .map((name) => readExample(join(folder, name), name));
}

function readExample(folder: string, name: string): Example {
  const files = readdirSync(folder).map((file) => ({
    name: file,
    text: readFileSync(join(folder, file), 'utf8'),
  }));
  const customSteps = files
    .filter((file) => file.name.endsWith('.py'))
    .map((file) => file.name.slice(0, -'.py'.length));
  const definitions = files.filter((file) => file.name.endsWith('.yaml'));
  const stepTypes = new Set(definitions.flatMap(({ text }) => [...stepTypesIn(parse(text))]));
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  return {
    name,
    number: name.slice(0, 2),
    readme,
    blocks: fencedBlocks(readme),
    files,
    stepTypes: [
      ...[...stepTypes].filter((type) => !customSteps.includes(type)).sort(),
      ...(customSteps.length > 0 ? ['a custom step'] : []),
    ],
  };
}

function* stepTypesIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'StepType') yield String(inner);
    else yield* stepTypesIn(inner);
  }
}

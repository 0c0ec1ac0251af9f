/** The definitions, scripts and limits that the cases of a file use, and no others: each case registers them. */
import { parseDefinition } from '../../engine/definitions/parse-definition.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { LimitSettings } from '../../engine/model/limit.js';
import { AppError } from '../../base/errors.js';
import { parseDocument, type LocatedDocument } from '../definition-source.js';
import { subWorkflowsOf } from '../stand-ins.js';
import type { FileProblem } from './file.js';
import { readLimitFile } from './limit-file.js';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface ProjectSources {
  readonly definition: SourceFile;
  readonly uses: readonly SourceFile[];
  /** What is beside the definition. */
  readonly definitionsAround: readonly SourceFile[];
  /** By the name of the custom step. */
  readonly scriptsAround: ReadonlyMap<string, SourceFile>;
  readonly limitsAround: readonly SourceFile[];
}

export interface TestProject {
  readonly id: string;
  readonly definitions: readonly ProjectDefinition[];
  readonly scripts: ReadonlyMap<string, SourceFile>;
  /** By name. */
  readonly limits: ReadonlyMap<string, LimitSettings>;
}

export interface ProjectDefinition extends SourceFile {
  readonly document: LocatedDocument;
  readonly definition: WorkflowDefinition;
}

/** A file that tests use has problems. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError' as const;
  readonly path: string;
  readonly problems: readonly FileProblem[];

  constructor(path: string, problems: readonly FileProblem[]) {
    super(problems.map(({ message }) => message).join('\n'));
    this.path = path;
    this.problems = problems;
  }
}

/** @throws ProjectError if the definition, or a definition or limit that it uses, cannot be read */
export function createProject(sources: ProjectSources): TestProject {
  const main = read(sources.definition);
  const found = new Map([[main.definition.id, main]]);
  for (const file of sources.uses) {
    const used = read(file);
    found.set(used.definition.id, used);
  }
  const around = new Map<string, SourceFile>();
  for (const file of sources.definitionsAround) {
    const id = idOf(file);
    if (id !== null && !around.has(id)) around.set(id, file);
  }
  // The map grows while it is walked through.
  for (const { document } of found.values()) {
    for (const id of subWorkflowsOf(document.value)) {
      const file = around.get(id);
      if (!found.has(id) && file !== undefined) found.set(id, read(file));
    }
  }
  const definitions = [...found.values()];
  const limits = limitsOf(definitions, sources);
  return { id: main.definition.id, definitions, scripts: scriptsOf(definitions, sources), limits };
}

function scriptsOf(
  definitions: readonly ProjectDefinition[],
  { scriptsAround }: ProjectSources,
): ReadonlyMap<string, SourceFile> {
  const byName = new Map(
    [...scriptsAround].map(([name, file]) => [name.toLowerCase(), { file, name }]),
  );
  const scripts = new Map<string, SourceFile>();
  for (const { definition } of definitions) {
    for (const { type, typeName } of definition.steps.values()) {
      const script = type === null ? byName.get(typeName.toLowerCase()) : undefined;
      if (script !== undefined) scripts.set(script.name, script.file);
    }
  }
  return scripts;
}

/** Others may have problems: they don't matter here. */
function limitsOf(
  definitions: readonly ProjectDefinition[],
  { limitsAround }: ProjectSources,
): ReadonlyMap<string, LimitSettings> {
  const steps = definitions.flatMap(({ definition }) => [...definition.steps.values()]);
  const used = new Set(steps.flatMap(({ limits }) => limits.map(({ name }) => name)));
  const found = new Map<string, LimitSettings>();
  for (const { path, text } of used.size === 0 ? [] : limitsAround) {
    const { limit, name, problems } = readLimitFile(text);
    if (name === null || !used.has(name) || found.has(name)) continue;
    if (limit === null) throw new ProjectError(path, problems);
    found.set(name, limit);
  }
  return found;
}

function read(file: SourceFile): ProjectDefinition {
  try {
    const document = parseDocument(file.text);
    const { definition, errors } = parseDefinition(document.value);
    if (definition !== null) return { ...file, document, definition };
    throw new ProjectError(
      file.path,
      errors.map(({ message, pointer }) => problemAt(document, pointer, message)),
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { column = 1, line = 1 } = error.fields;
    const problem = { line: Number(line), column: Number(column), message: error.message };
    throw new ProjectError(file.path, [problem]);
  }
}

export function problemAt(
  document: LocatedDocument,
  pointer: string,
  message: string,
): FileProblem {
  return { ...(document.locate(pointer) ?? { line: 1, column: 1 }), message };
}

/** Null: the file is no definition, or one with errors. It matters only if it is used. */
function idOf(file: SourceFile): string | null {
  try {
    return parseDefinition(parseDocument(file.text).value).definition?.id ?? null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

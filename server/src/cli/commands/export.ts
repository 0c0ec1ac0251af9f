/** `stepwright export`: prints everything about a run as JSON; `stepwright types`: prints the TypeScript types of a definition. */
import { PRIVATE_FILE } from '../../base/private-files.js';
import type { WorkflowExport } from '../../api/wire/models/export.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import { writeOutput } from '../files/bounded-files.js';
import { jsonText, Output } from '../output/output.js';
import { plainLines } from '../output/plain-text.js';

interface FileOptions extends ServerCommandOptions {
  /** Standard output if absent. */
  readonly output?: string;
}

export interface TypesOptions extends FileOptions {
  readonly version?: number;
}

export async function exportRun(workflowId: string, options: FileOptions): Promise<void> {
  const client = await connect(options);
  const exported = await client.get<WorkflowExport>(pathTo`/api/workflow/${workflowId}/export`);
  // It contains the run's data.
  await deliver(`${jsonText(exported, 2)}\n`, options, PRIVATE_FILE);
}

export async function types(definitionId: string, options: TypesOptions): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${definitionId}/types`;
  const module = await client.text('GET', path, { query: { version: options.version } });
  await deliver(options.json ? `${jsonText({ types: module }, 2)}\n` : plainLines(module), options);
}

async function deliver(text: string, { output }: FileOptions, mode?: number): Promise<void> {
  if (output === undefined) process.stdout.write(text);
  else {
    await writeOutput(output, text, mode);
    new Output().note(`Written to ${output}.`);
  }
}

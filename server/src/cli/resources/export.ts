/** `stepwright export`: prints everything about a run as JSON; `stepwright types`: prints the TypeScript types of a definition. */
import { PRIVATE_FILE } from '../../base/private-files.js';
import type { WorkflowExport } from '../../api/wire/models/export.js';
import { readVersion } from '../arguments/values.js';
import { pathTo } from '../connection/server-client.js';
import { jsonText, type Output } from '../output/output.js';
import { plainLines } from '../output/plain-text.js';
import { serverCommand, type Call } from './server-command.js';

interface FileOptions {
  /** Standard output if absent. */
  readonly output?: string;
}

interface TypesOptions extends FileOptions {
  readonly version?: number;
}

export const exportRun = serverCommand({
  description: 'print everything about a run as JSON',
  declare: (command) =>
    command.argument('<run>', 'the id of a run').option('-o, --output <file>', 'write to a file'),
  run: async ({ connect, options, output }: Call<FileOptions>, workflowId: string) => {
    const client = await connect();
    const exported = await client.get<WorkflowExport>(pathTo`/api/workflow/${workflowId}/export`);
    // It contains the run's data.
    await deliver(output, `${jsonText(exported, 2)}\n`, options, PRIVATE_FILE);
  },
});

export const types = serverCommand({
  description: 'print the types of a definition as a TypeScript module',
  declare: (command) =>
    command
      .argument('<definition>', 'the id of a definition')
      .option('--version <number>', 'the version of the definition', readVersion)
      .option('-o, --output <file>', 'write to a file'),
  run: async ({ connect, options, output }: Call<TypesOptions>, definitionId: string) => {
    const client = await connect();
    const path = pathTo`/api/definition/${definitionId}/types`;
    const module = await client.text('GET', path, { query: { version: options.version } });
    await deliver(output, output.fileText({ types: module }, plainLines(module)), options);
  },
});

async function deliver(
  output: Output,
  text: string,
  { output: file }: FileOptions,
  mode?: number,
): Promise<void> {
  if (file === undefined) process.stdout.write(text);
  else {
    const { writeOutput } = await import('../files/bounded-files.js');
    await writeOutput(file, text, mode);
    output.note(`Written to ${file}.`);
  }
}

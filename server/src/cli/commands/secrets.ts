/** `stepwright secrets`: lists the names of secrets and the definitions that use them. */
import type { Secret } from '../../api/wire/models/secret.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import type { Page } from '../connection/pages.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';

export async function listSecrets(options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const page = await client.get<Page<Secret>>('/api/secret');
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'SECRET', text: ({ name }) => name },
      { title: 'STATE', text: ({ missing }) => (missing ? 'missing' : 'present') },
      { title: 'USED BY', text: ({ definitions }) => definitions.join(', '), canShrink: true },
    ]);
  }
  noteMore(output, page, 'secrets');
}

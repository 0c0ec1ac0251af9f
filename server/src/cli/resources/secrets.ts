/** `stepwright secrets`: lists the names of secrets and the definitions that use them. */
import type { Secret } from '../../api/wire/models/secret.js';
import { listCommand } from './server-command.js';

export const secrets = listCommand<Secret>({
  description: 'list the names of secrets and the definitions that use them',
  path: () => '/api/secret',
  nouns: 'secrets',
  columns: [
    { title: 'SECRET', text: ({ name }) => name },
    { title: 'STATE', text: ({ missing }) => (missing ? 'missing' : 'present') },
    { title: 'USED BY', text: ({ definitions }) => definitions.join(', '), canShrink: true },
  ],
});

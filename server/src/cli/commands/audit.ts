/** `stepwright audit`: lists who changed what. */
import type { AuditEntry } from '../../api/wire/models/audit.js';
import { connect } from '../connection/connect.js';
import { readPages } from '../connection/pages.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { relativeTime } from '../output/times.js';
import type { PageOptions } from './bulk.js';

export interface AuditOptions extends PageOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly targetKind?: string;
  readonly targetId?: string;
  readonly address?: string;
  /** ISO 8601. */
  readonly from?: string;
  /** ISO 8601. */
  readonly to?: string;
}

export async function listAudit(options: AuditOptions): Promise<void> {
  const { action, actor, address, cursor, from, limit, targetId, targetKind, to } = options;
  const query = { action, actor, address, cursor, from, limit, targetId, targetKind, to };
  const client = await connect(options);
  const page = await readPages<AuditEntry>(client, '/api/audit', query);
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'TIME', text: ({ time }) => relativeTime(time, output.now) },
      { title: 'ACTOR', text: ({ actor: who }) => who, canShrink: true },
      { title: 'ACTION', text: ({ action: what }) => what },
      { title: 'TARGET', text: ({ target }) => target.id, canShrink: true },
      { title: 'FROM', isOptional: true, text: ({ address: where }) => where },
      { title: 'DETAIL', isOptional: true, text: ({ detail }) => detail ?? '', canShrink: true },
    ]);
  }
  noteMore(output, page, 'entries');
}

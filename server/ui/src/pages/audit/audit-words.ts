/** The entries of the audit log in the words of the page. */
import type { AuditEntry } from '@stepwright/sdk';
import { toPath } from '../../app/path.js';

type Target = AuditEntry['target'];

/** Kinds of targets as the API names them. */
export const TARGET_KINDS: Readonly<Record<string, string>> = {
  workflow: 'run',
  definition: 'definition',
  trigger: 'trigger',
  script: 'custom step',
  bulk: 'bulk job',
  webhook: 'webhook',
  notification: 'notification',
  key: 'API key',
};

/** What was done, without the kind of the target: `workflow.set-tags` is `set tags`. */
export function actionText(action: string): string {
  const verb = action.slice(action.indexOf('.') + 1);
  return verb === 'put' ? 'store' : verb.replaceAll('-', ' ');
}

/** Where the page shows the target; null if it shows no such targets. */
export function targetPath({ id, kind }: Target): string | null {
  switch (kind) {
    case 'workflow':
      return toPath('runs', id);
    case 'definition':
      return toPath('definitions', id);
    case 'trigger':
      return `${toPath('definitions', id.slice(0, id.lastIndexOf('/')))}?view=triggers`;
    case 'script':
      return toPath('steps', id);
    case 'bulk':
      return toPath('bulk', id);
    case 'webhook':
      return '/webhooks';
    case 'notification':
      return toPath('notifications', id);
    case 'key':
      return '/keys';
    default:
      return null;
  }
}

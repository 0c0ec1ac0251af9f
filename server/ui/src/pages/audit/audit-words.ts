/** The page's texts for entries of the audit log. */
import type { AuditEntry } from '@stepwright/sdk';
import { toPath } from '../../app/path.js';

type Target = AuditEntry['target'];

/** The API's names of target kinds. */
export const TARGET_KINDS: Readonly<Record<string, string>> = {
  workflow: 'run',
  definition: 'definition',
  trigger: 'trigger',
  script: 'custom step',
  bulk: 'bulk job',
  webhook: 'webhook',
  limit: 'limit',
  notification: 'notification',
  key: 'API key',
};

/** The action without the kind of its target: `workflow.set-tags` is `set tags`. */
export function actionText(action: string): string {
  const verb = action.slice(action.indexOf('.') + 1);
  return verb === 'put' ? 'store' : verb.replaceAll('-', ' ');
}

/** The path at which the page shows the target; null if there is none. */
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
    case 'limit':
      return toPath('limits', id);
    case 'notification':
      return toPath('notifications', id);
    case 'key':
      return '/keys';
    default:
      return null;
  }
}

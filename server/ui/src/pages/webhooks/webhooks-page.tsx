import type { Webhook } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { CopyText } from '../../components/copy-text.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { useToasts } from '../../components/toasts.js';
import { SCHEMES } from './webhook-choices.js';
import { WebhookForm } from './webhook-form.js';
import './webhooks.css';

/** The addresses that other systems call to start runs and publish events. */
export function WebhooksPage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  /** Null: a new one; undefined: the form is closed. */
  const [edited, setEdited] = useState<Webhook | null | undefined>();
  const remove = useRemove();
  const list = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => client.webhooks.list({ signal }),
    refetchInterval: useSlowPollInterval(),
  });
  return (
    <Page
      title="Webhooks"
      actions={
        <Button variant="primary" needs="author" onPress={() => setEdited(null)}>
          New webhook
        </Button>
      }
    >
      {list.error !== null && (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="There are no webhooks.">
          <p>
            A webhook is an address that another system calls to start a run or publish an event.
          </p>
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <DataTable
          label="Webhooks"
          columns={[...COLUMNS, actionsColumn(setEdited, remove)]}
          rows={list.data}
          rowKey={({ name }) => name}
        />
      )}
      {edited !== undefined && (
        <WebhookForm
          existing={edited}
          onStored={() => void queries.invalidateQueries({ queryKey: ['webhooks'] })}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  { key: 'name', header: 'Webhook', cell: ({ name }) => <bdi>{name}</bdi> },
  {
    key: 'path',
    header: 'Address',
    kind: 'wide',
    cell: ({ path }) => (
      <>
        <code>{path}</code>{' '}
        <CopyText text={new URL(path, location.origin).href} what="the address" />
      </>
    ),
  },
  {
    key: 'scheme',
    header: 'Signed as',
    cell: ({ scheme }) => SCHEMES.find((each) => each.scheme === scheme)?.label ?? scheme,
  },
  { key: 'effect', header: 'Each call', cell: (webhook) => <EffectText webhook={webhook} /> },
  {
    key: 'changed',
    header: 'Changed',
    cell: ({ changedBy, changedTime }) => (
      <>
        <TimeAgo time={changedTime} /> <span className="quiet">by</span> <bdi>{changedBy}</bdi>
      </>
    ),
  },
];

function EffectText({ webhook: { publish, start } }: { readonly webhook: Webhook }): ReactNode {
  if (start !== undefined) {
    return (
      <>
        starts <bdi>{start.definitionId}</bdi>
      </>
    );
  }
  return (
    <>
      publishes <code>{publish?.name}</code>
    </>
  );
}

function actionsColumn(
  onEdit: (webhook: Webhook) => void,
  onRemove: (name: string) => void,
): Column<Webhook> {
  return {
    key: 'actions',
    header: 'Actions',
    cell: (webhook) => (
      <span className="webhook-actions">
        <Button isSmall needs="author" onPress={() => onEdit(webhook)}>
          Edit
        </Button>
        <Button isSmall needs="author" variant="danger" onPress={() => onRemove(webhook.name)}>
          Delete
        </Button>
      </span>
    ),
  };
}

function useRemove(): (name: string) => void {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const remove = async (name: string): Promise<void> => {
    const isWanted = await confirm({
      title: `Delete ${name}?`,
      text: 'From then on, calls to its address have no effect. This cannot be undone.',
      confirm: 'Delete',
      isDangerous: true,
    });
    if (!isWanted) return;
    try {
      await client.webhooks.remove(name);
      say(`${name} was deleted.`);
    } catch (error) {
      noticeFailure(error);
      notifyError('Delete failed', error);
    }
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (name) => void remove(name);
}

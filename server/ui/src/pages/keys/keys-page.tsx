import type { ApiKey, CreatedApiKey } from '@stepwright/sdk';
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
import { KeyForm } from './key-form.js';
import './keys.css';

/** The API keys of programs. */
export function KeysPage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const remove = useRemove(() => setCreated(null));
  const list = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => client.keys.list({ signal }),
    refetchInterval: useSlowPollInterval(),
  });
  return (
    <Page
      title="API keys"
      actions={
        <Button variant="primary" needs="admin" onPress={() => setCreating(true)}>
          New API key
        </Button>
      }
    >
      {created !== null && <NewKey created={created} onClose={() => setCreated(null)} />}
      {list.error !== null && (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="There are no API keys.">
          <p>An API key lets a program call the API without signing in.</p>
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <DataTable
          label="API keys"
          columns={[...COLUMNS, removeColumn(remove)]}
          rows={list.data}
          rowKey={({ id }) => id}
        />
      )}
      {isCreating && (
        <KeyForm
          onCreated={(key) => {
            setCreated(key);
            void queries.invalidateQueries({ queryKey: ['keys'] });
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}

function NewKey({
  created,
  onClose,
}: {
  readonly created: CreatedApiKey;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <section className="new-key" aria-labelledby="new-key">
      <h2 id="new-key">
        The key of <bdi>{created.name}</bdi>
      </h2>
      <p>Copy it now: the server does not store it, and never shows it again.</p>
      <p className="new-key-text">
        <code>{created.key}</code> <CopyText text={created.key} what="the key" />
      </p>
      <Button onPress={onClose}>Done</Button>
    </section>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
  {
    key: 'scopes',
    header: 'Scopes',
    kind: 'wide',
    cell: ({ scopes }) => scopes.map((scope) => scope.replace(/^conductor:/, '')).join(', '),
  },
  {
    key: 'expires',
    header: 'Expires',
    kind: 'time',
    cell: ({ expires }) =>
      expires === null ? <span className="quiet">never</span> : <TimeAgo time={expires} />,
  },
  {
    key: 'used',
    header: 'Last used',
    kind: 'time',
    cell: ({ lastUsedTime }) =>
      lastUsedTime === null ? (
        <span className="quiet">never</span>
      ) : (
        <TimeAgo time={lastUsedTime} />
      ),
  },
  {
    key: 'created',
    header: 'Created',
    cell: ({ createdBy, createdTime }) => (
      <>
        <TimeAgo time={createdTime} /> <span className="quiet">by</span> <bdi>{createdBy}</bdi>
      </>
    ),
  },
];

function removeColumn(onRemove: (key: ApiKey) => void): Column<ApiKey> {
  return {
    key: 'actions',
    header: 'Actions',
    cell: (key) => (
      <Button isSmall needs="admin" variant="danger" onPress={() => onRemove(key)}>
        Remove
      </Button>
    ),
  };
}

function useRemove(onRemoved: () => void): (key: ApiKey) => void {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const remove = async ({ id, name }: ApiKey): Promise<void> => {
    const isWanted = await confirm({
      title: `Remove ${name}?`,
      text: 'All nodes stop accepting this key within a second. This cannot be undone.',
      confirm: 'Remove',
      isDangerous: true,
    });
    if (!isWanted) return;
    try {
      await client.keys.remove(id);
      say(`${name} was removed.`);
      onRemoved();
    } catch (error) {
      noticeFailure(error);
      notifyError('Remove failed', error);
    }
    await queries.invalidateQueries({ queryKey: ['keys'] });
  };
  return (key) => void remove(key);
}

import type { Delivery, Notification } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { Fact } from '../../components/fact.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { AnswerText } from './answer-text.js';
import { Deliveries } from './deliveries.js';
import { NotificationButtons } from './notification-buttons.js';
import { NotificationForm } from './notification-form.js';
import { NotificationState } from './notification-state.js';
import './notifications.css';

/** One notification, with its settings and deliveries. */
export function NotificationPage({ name }: { readonly name: string }): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [tested, setTested] = useState<Delivery | null>(null);
  const query = useQuery({
    queryKey: ['notification', name],
    queryFn: ({ signal }) => client.notifications.get(name, { signal }),
    refetchInterval: useSlowPollInterval(),
  });
  const notification = query.data;
  const reread = (): void => void queries.invalidateQueries({ queryKey: ['notification', name] });
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      actions={
        notification !== undefined && (
          <NotificationButtons
            notification={notification}
            onTested={setTested}
            onEdit={() => setEditing(true)}
            onChanged={reread}
          />
        )
      }
    >
      {query.error !== null && (
        <ProblemView error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isPending && <Loading />}
      {notification !== undefined && <Settings notification={notification} />}
      {tested !== null && (
        <p className="panel notification-test" role="status">
          Test:{' '}
          {tested.lastAnswer === null ? 'no answer yet' : <AnswerText answer={tested.lastAnswer} />}
        </p>
      )}
      <Deliveries name={name} />
      {isEditing && notification !== undefined && (
        <NotificationForm
          existing={notification}
          onStored={reread}
          onClose={() => setEditing(false)}
        />
      )}
    </Page>
  );
}

function Settings({ notification }: { readonly notification: Notification }): ReactNode {
  const { changedBy, changedTime, definitionId, include, on, url, where } = notification;
  return (
    <dl className="facts">
      <Fact label="State">
        <NotificationState notification={notification} />
      </Fact>
      <Fact label="Target">
        <bdi>{url}</bdi>
      </Fact>
      <Fact label="Tells">{on.join(', ')}</Fact>
      <Fact label="Definition">{definitionId === null ? 'all' : <bdi>{definitionId}</bdi>}</Fact>
      {where.length > 0 && (
        <Fact label="Conditions">
          {where.map((condition) => (
            <div key={condition}>
              <code>{condition}</code>
            </div>
          ))}
        </Fact>
      )}
      <Fact label="Messages contain">
        {include === 'data' ? 'a summary and the data' : 'a summary'}
      </Fact>
      <Fact label="Changed">
        <TimeAgo time={changedTime} /> by <bdi>{changedBy}</bdi>
      </Fact>
    </dl>
  );
}

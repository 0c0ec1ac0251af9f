import type { Delivery, Notification } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';

interface NotificationButtonsProps {
  readonly notification: Notification;
  readonly onTested: (delivery: Delivery) => void;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

/** The actions on a notification. */
export function NotificationButtons(props: NotificationButtonsProps): ReactNode {
  const { notification, onEdit } = props;
  const { isPending, remove, switchPause, test } = useNotificationActions(props);
  return (
    <>
      <Button needs="author" isPending={isPending} onPress={test}>
        Send a test
      </Button>
      <Button needs="author" isPending={isPending} onPress={switchPause}>
        {notification.paused ? 'Resume' : 'Pause'}
      </Button>
      <Button needs="author" onPress={onEdit}>
        Edit
      </Button>
      <Button needs="author" variant="danger" isPending={isPending} onPress={remove}>
        Delete
      </Button>
    </>
  );
}

function useNotificationActions({ notification, onTested, onChanged }: NotificationButtonsProps) {
  const { name, paused } = notification;
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const [, navigate] = useLocation();
  const [isPending, setPending] = useState(false);
  const act = async (what: string, call: () => Promise<void>): Promise<void> => {
    setPending(true);
    try {
      await call();
    } catch (error) {
      noticeFailure(error);
      notifyError(`${what} failed`, error);
    } finally {
      setPending(false);
    }
  };
  const test = async (): Promise<void> => {
    onTested(await client.notifications.test(name));
    onChanged();
  };
  const switchPause = async (): Promise<void> => {
    await client.notifications[paused ? 'resume' : 'pause'](name);
    say(
      paused
        ? `${name} was resumed.`
        : `${name} is paused. Changes are not recorded until it is resumed.`,
    );
    onChanged();
  };
  const remove = async (): Promise<void> => {
    const isWanted = await confirm({
      title: `Delete ${name}?`,
      text: 'Its deliveries are also deleted, and nothing more is sent. This cannot be undone.',
      confirm: 'Delete',
      isDangerous: true,
    });
    if (!isWanted) return;
    await client.notifications.remove(name);
    void queries.invalidateQueries({ queryKey: ['notifications'] });
    navigate('/notifications');
    say(`${name} was deleted.`);
  };
  return {
    isPending,
    test: () => void act('The test', test),
    switchPause: () => void act(paused ? 'Resume' : 'Pause', switchPause),
    remove: () => void act('Delete', remove),
  };
}

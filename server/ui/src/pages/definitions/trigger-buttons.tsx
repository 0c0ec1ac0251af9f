import type { Trigger } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';

interface TriggerButtonsProps {
  readonly definitionId: string;
  readonly trigger: Trigger;
  readonly onChanged: () => void;
  readonly onBackfill: (name: string) => void;
}

/** The actions on a trigger. */
export function TriggerButtons(props: TriggerButtonsProps): ReactNode {
  const { definitionId, trigger, onChanged, onBackfill } = props;
  const { kind, name, paused } = trigger;
  const { isPending, fire, pause, resume } = useTriggerActions(definitionId, name, onChanged);
  return (
    <span className="trigger-buttons" role="group" aria-label={`Actions on ${name}`}>
      <Button isSmall needs="controller" isPending={isPending} onPress={fire}>
        Fire now
      </Button>
      <Button isSmall needs="controller" isPending={isPending} onPress={paused ? resume : pause}>
        {paused ? 'Resume' : 'Pause'}
      </Button>
      {kind === 'cron' && (
        <Button isSmall needs="controller" onPress={() => onBackfill(name)}>
          Backfill
        </Button>
      )}
    </span>
  );
}

/** The requests behind the buttons. Each reports its result. */
function useTriggerActions(definitionId: string, name: string, onChanged: () => void) {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const confirm = useConfirm();
  const [isPending, setPending] = useState(false);
  const act = async (what: string, call: () => Promise<string>): Promise<void> => {
    setPending(true);
    try {
      say(await call());
    } catch (error) {
      noticeFailure(error);
      notifyError(`${what} failed`, error);
    } finally {
      setPending(false);
      onChanged();
    }
  };
  const pause = async (): Promise<string> => {
    await client.triggers.pause(definitionId, name);
    return `${name} is paused. Missed due times and events won't start runs later.`;
  };
  const resume = async (): Promise<string> => {
    await client.triggers.resume(definitionId, name);
    return `${name} was resumed.`;
  };
  const fire = async (): Promise<string> => {
    const { joined, workflowId } = await client.triggers.fire(definitionId, name);
    return joined
      ? `${name} joined the existing run ${workflowId} with the same reference. No run was started.`
      : `${name} started run ${workflowId}.`;
  };
  const askAndFire = async (): Promise<void> => {
    const isWanted = await confirm({
      title: `Fire ${name} now?`,
      text: `This starts a run of ${definitionId}, even if the trigger is paused or another of its runs is open.`,
      confirm: 'Fire now',
    });
    if (isWanted) await act('Fire', fire);
  };
  return {
    isPending,
    fire: () => void askAndFire(),
    pause: () => void act('Pause', pause),
    resume: () => void act('Resume', resume),
  };
}

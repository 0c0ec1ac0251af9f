import type { WorkflowStatus } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import type { ControlAction } from '../../api/operator-api.js';
import { useSession, type Session } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';

interface Control {
  readonly isBusy: boolean;
  readonly act: (action: ControlAction) => Promise<void>;
}

const WORDS: Readonly<Record<ControlAction, { readonly label: string; readonly said: string }>> = {
  suspend: { label: 'Suspend', said: 'The run was suspended.' },
  resume: { label: 'Resume', said: 'The run goes on.' },
  retry: { label: 'Retry now', said: 'The steps that waited for a retry are tried now.' },
  terminate: { label: 'Terminate', said: 'The run was terminated.' },
};

/** Controls one run, says how it went, and asks before what cannot be undone. */
export function useControl(workflowId: string, onDone: () => void): Control {
  const session = useSession();
  const { say, notifyError } = useToasts();
  const confirm = useConfirm();
  const [isBusy, setBusy] = useState(false);
  const act = async (action: ControlAction): Promise<void> => {
    const chosen = { compensate: false };
    if (action === 'terminate') {
      const isWanted = await confirm({
        title: 'Terminate this run?',
        text: 'It ends for good: open steps are cancelled and nothing follows. This cannot be undone.',
        confirm: 'Terminate',
        isDangerous: true,
        checkbox: {
          label: 'Compensate completed steps first',
          onChange: (isChosen) => {
            chosen.compensate = isChosen;
          },
        },
      });
      if (!isWanted) return;
    }
    setBusy(true);
    try {
      await send(session, action, { workflowId, ...chosen });
      say(
        chosen.compensate
          ? 'Completed steps are compensated, then the run ends.'
          : WORDS[action].said,
      );
    } catch (error) {
      session.noticeFailure(error);
      notifyError(`${WORDS[action].label} did not work`, error);
    } finally {
      setBusy(false);
      onDone();
    }
  };
  return { isBusy, act };
}

async function send(
  { api, client }: Session,
  action: ControlAction,
  { compensate, workflowId }: { readonly workflowId: string; readonly compensate: boolean },
): Promise<void> {
  if (action === 'retry') await api.retry(workflowId);
  else if (action === 'terminate') await client.workflows.terminate(workflowId, { compensate });
  else await client.workflows[action](workflowId);
}

/** The buttons of the page's head: those that can do something in this state. */
export function RunActions({
  status,
  hasRetry,
  control,
}: {
  readonly status: WorkflowStatus;
  /** A step waits for its next try. */
  readonly hasRetry: boolean;
  readonly control: Control;
}): ReactNode {
  const shown: ControlAction[] = [
    ...(status === 'Runnable' && hasRetry ? (['retry'] as const) : []),
    ...(status === 'Runnable' ? (['suspend'] as const) : []),
    ...(status === 'Suspended' ? (['resume'] as const) : []),
    ...(status === 'Runnable' || status === 'Suspended' ? (['terminate'] as const) : []),
  ];
  return shown.map((action) => <ControlButton key={action} action={action} control={control} />);
}

export function ControlButton({
  action,
  control,
  isSmall = false,
}: {
  readonly action: ControlAction;
  readonly control: Control;
  readonly isSmall?: boolean;
}): ReactNode {
  return (
    <Button
      needs="controller"
      isSmall={isSmall}
      variant={action === 'terminate' ? 'danger' : action === 'suspend' ? 'plain' : 'primary'}
      isDisabled={control.isBusy}
      onPress={() => void control.act(action)}
    >
      {WORDS[action].label}
    </Button>
  );
}

import type { ControlAction, Workflow, WorkflowStatus } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession, type Session } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';
import { REASON_MAX } from './repair/repair-plan.js';

interface Control {
  readonly isBusy: boolean;
  readonly act: (action: ControlAction) => Promise<void>;
}

const WORDS: Readonly<Record<ControlAction, { readonly label: string; readonly said: string }>> = {
  suspend: { label: 'Suspend', said: 'The run was suspended.' },
  resume: { label: 'Resume', said: 'The run was resumed.' },
  retry: { label: 'Retry now', said: 'The steps that were waiting for a retry are being retried.' },
  terminate: { label: 'Terminate', said: 'The run was terminated.' },
};

/** Controls one run: asks for confirmation before actions that cannot be undone, and reports the result. */
export function useControl(run: Workflow, onDone: () => void): Control {
  const { workflowId } = run;
  const session = useSession();
  const { say, notifyError } = useToasts();
  const confirm = useConfirm();
  const [isBusy, setBusy] = useState(false);
  const act = async (action: ControlAction): Promise<void> => {
    const chosen = { compensate: false, reason: '' };
    if (action === 'terminate') {
      const isWanted = await confirm({
        title: 'Terminate this run?',
        text: (
          <>
            <RunName run={run} />
            <p>
              Its open steps are canceled, and no further steps run. Completed steps are not
              compensated unless you choose so.
            </p>
          </>
        ),
        confirm: 'Terminate',
        isDangerous: true,
        checkbox: {
          label: 'Compensate completed steps first',
          onChange: (isChosen) => {
            chosen.compensate = isChosen;
          },
        },
        note: {
          label: 'Reason, for the history of the run',
          maxLength: REASON_MAX,
          onChange: (text) => {
            chosen.reason = text.trim();
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
          ? 'The completed steps are being compensated. Then the run ends.'
          : WORDS[action].said,
      );
    } catch (error) {
      session.noticeFailure(error);
      notifyError(`${WORDS[action].label} failed`, error);
    } finally {
      setBusy(false);
      onDone();
    }
  };
  return { isBusy, act };
}

/** Names a run in a dialog, so that the user sees which one it is. */
export function RunName({ run }: { readonly run: Workflow }): ReactNode {
  const { definitionId, reference, workflowId } = run;
  return (
    <p className="run-name">
      <bdi>{definitionId}</bdi>
      {reference !== null && (
        <>
          {' · '}
          <bdi>{reference}</bdi>
        </>
      )}{' '}
      <code>{workflowId}</code>
    </p>
  );
}

async function send(
  { client }: Session,
  action: ControlAction,
  {
    compensate,
    reason,
    workflowId,
  }: { readonly workflowId: string; readonly compensate: boolean; readonly reason: string },
): Promise<void> {
  if (action === 'terminate') {
    const why = reason === '' ? {} : { reason };
    await client.workflows.terminate(workflowId, { compensate, ...why });
  } else await client.workflows[action](workflowId);
}

/** The buttons at the top of the page: the actions that are possible in this status. */
export function RunActions({
  status,
  hasRetry,
  control,
}: {
  readonly status: WorkflowStatus;
  /** Whether a step is waiting for a retry. */
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

import { stringifyJson, type Workflow } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { DialogForm } from '../../components/dialog-form.js';
import { Menu } from '../../components/menu.js';
import { saveFile } from '../../components/save-file.js';
import { useToasts } from '../../components/toasts.js';
import { useLatestDefinition } from '../definitions/use-definition.js';
import { VersionChoice } from '../definitions/version-choice.js';
import { RunName } from './run-actions.js';

const REASON_MAX = 500;

/** The less frequent actions on a run. */
export function RunMenu({ run }: { readonly run: Workflow }): ReactNode {
  const [isRestarting, setRestarting] = useState(false);
  const { workflowId, definitionId, endTime } = run;
  const query = new URLSearchParams({ from: workflowId }).toString();
  const download = useExport(workflowId);
  const purge = usePurge(run);
  return (
    <>
      <Menu label="More">
        <Link className="button" href={`${toPath('runs', workflowId)}?repair=&from=start`}>
          Rerun from the start …
        </Link>
        <Button needs="controller" onPress={() => setRestarting(true)}>
          Restart as a new run …
        </Button>
        <Link className="button" href={`${toPath('definitions', definitionId, 'start')}?${query}`}>
          Start again with other data …
        </Link>
        <Button onPress={() => void download()}>Export</Button>
        <Button
          needs="controller"
          variant="danger"
          isDisabled={endTime === null}
          onPress={() => void purge()}
        >
          {endTime === null ? 'Purge (only when it has ended)' : 'Purge …'}
        </Button>
      </Menu>
      {isRestarting && <RestartForm run={run} onClose={() => setRestarting(false)} />}
    </>
  );
}

/** Starts a new run with the input, reference and tags of this one. */
function RestartForm({
  run,
  onClose,
}: {
  readonly run: Workflow;
  readonly onClose: () => void;
}): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [, navigate] = useLocation();
  const [reason, setReason] = useState('');
  const [version, setVersion] = useState(run.version);
  const latestVersion = useLatestDefinition(run.definitionId).data?.version ?? run.version;
  const restart = async (): Promise<void> => {
    const options = { reason: reason.trim(), version };
    const { workflowId } = await client.workflows.restart(run.workflowId, options);
    say('A new run was started.');
    navigate(toPath('runs', workflowId));
  };
  return (
    <DialogForm
      title="Restart as a new run?"
      submit="Restart"
      isInvalid={reason.trim() === ''}
      hint="A new run starts with the same input, reference and tags. This run stays as it is."
      onSubmit={restart}
      onClose={onClose}
    >
      <RunName run={run} />
      <label className="field">
        <span>Reason, for the history of both runs (required)</span>
        <input
          value={reason}
          autoFocus
          maxLength={REASON_MAX}
          autoComplete="off"
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
      <VersionChoice {...{ version, latestVersion }} onChoose={setVersion} />
    </DialogForm>
  );
}

/** Saves all the server's records of the run as one JSON file. */
function useExport(workflowId: string): () => Promise<void> {
  const { client, noticeFailure } = useSession();
  const { notifyError } = useToasts();
  return async () => {
    try {
      const text = stringifyJson(await client.workflows.export(workflowId), 2);
      saveFile(`run-${workflowId}.json`, 'application/json', text);
    } catch (error) {
      noticeFailure(error);
      notifyError('Export failed', error);
    }
  };
}

function usePurge(run: Workflow): () => Promise<void> {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const [, navigate] = useLocation();
  const confirm = useConfirm();
  return async () => {
    const isWanted = await confirm({
      title: 'Purge this run?',
      text: (
        <>
          <RunName run={run} />
          <p>The run is removed with its data and its history. This cannot be undone.</p>
        </>
      ),
      confirm: 'Purge',
      isDangerous: true,
    });
    if (!isWanted) return;
    try {
      await client.workflows.purge(run.workflowId);
      say('The run was purged.');
      navigate('/runs');
    } catch (error) {
      noticeFailure(error);
      notifyError('Purge failed', error);
    }
  };
}

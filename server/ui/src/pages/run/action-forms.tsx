/** Forms that answer what a run is waiting for; they check the JSON before they send it. */
import { parseJson, type WaitReason } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';

export type FormKind = 'publish-event' | 'complete-activity' | 'fail-activity';

interface FormProps {
  readonly workflowId: string;
  readonly reason: WaitReason;
  readonly kind: FormKind;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const WORDS = {
  'publish-event': {
    title: 'Publish the event',
    submit: 'Publish',
    data: 'Event data (JSON)',
    start: '{}',
    said: 'The event was published.',
  },
  'complete-activity': {
    title: 'Complete the activity',
    submit: 'Complete',
    data: 'Result (JSON)',
    start: '{}',
    said: 'The activity was completed.',
  },
  'fail-activity': {
    title: 'Fail the activity',
    submit: 'Fail',
    data: 'Error (JSON)',
    start: '"failed by an operator"',
    said: 'The activity was failed.',
  },
} as const;

const NOTES = {
  'publish-event': 'Every run that is waiting for this event gets it, not only this one.',
  'complete-activity':
    'The step gets this value as the result of its worker. A worker that holds the item can no longer report a result.',
  'fail-activity':
    'The step fails, and its error behavior applies. A worker that holds the item can no longer report a result.',
} as const;

export function ActionForm(props: FormProps): ReactNode {
  const { reason, kind, onClose } = props;
  const words = WORDS[kind];
  const [text, setText] = useState<string>(words.start);
  const { send, error, isBusy } = useSend(props);
  const parsed = readJson(text);
  return (
    <FormDialog title={words.title} onClose={onClose}>
      <form
        className="action-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed.problem === null) void send(parsed.value);
        }}
      >
        <p className="action-target">
          <bdi>
            {kind === 'publish-event'
              ? `${reason.eventName ?? ''} / ${reason.eventKey ?? ''}`
              : (reason.activityName ?? reason.stepId)}
          </bdi>
        </p>
        <label className="field">
          <span>{words.data}</span>
          <textarea
            rows={6}
            value={text}
            autoFocus
            spellCheck={false}
            aria-invalid={parsed.problem !== null}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        <p className="form-problem" role="status">
          {parsed.problem}
        </p>
        <p className="hint">{NOTES[kind]}</p>
        {error !== null && <ProblemView error={error} />}
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={kind === 'fail-activity' ? 'danger' : 'primary'}
            isDisabled={isBusy || parsed.problem !== null}
          >
            {words.submit}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}

interface Sending {
  readonly send: (data: unknown) => Promise<void>;
  readonly error: unknown;
  readonly isBusy: boolean;
}

function useSend({ workflowId, reason, kind, onDone }: FormProps): Sending {
  const { client } = useSession();
  const { say } = useToasts();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (data: unknown): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      if (kind === 'publish-event') {
        const { eventName: name = '', eventKey: key = '' } = reason;
        await client.events.publish(name, key, data, { workflowId });
      } else {
        const end = kind === 'complete-activity' ? 'completeActivity' : 'failActivity';
        await client.workflows[end](workflowId, reason.executionId ?? 0, data);
      }
      say(WORDS[kind].said);
      onDone();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { send, error, isBusy };
}

function readJson(text: string): { readonly value: unknown; readonly problem: string | null } {
  try {
    return { value: parseJson(text), problem: null };
  } catch (error) {
    return {
      value: null,
      problem: error instanceof Error ? `Not valid JSON: ${error.message}` : 'Not valid JSON',
    };
  }
}

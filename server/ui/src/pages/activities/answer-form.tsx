import { parseJson, type ActivityItem } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';

export type Answer = 'complete' | 'fail';

const WORDS = {
  complete: {
    title: 'Complete the work item',
    field: 'Result (any JSON value)',
    start: '{}',
    submit: 'Complete',
    said: 'The work item was completed.',
    note: 'The step gets this value as the result of its worker. A worker that holds the item can no longer report a result.',
  },
  fail: {
    title: 'Fail the work item',
    field: 'Error (any JSON value)',
    start: '"failed by an operator"',
    submit: 'Fail',
    said: 'The work item was failed.',
    note: 'The step fails, and its error behavior applies. A worker that holds the item can no longer report a result.',
  },
} as const;

interface AnswerFormProps {
  readonly item: ActivityItem;
  readonly answer: Answer;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Completes or fails a work item in place of its worker. */
export function AnswerForm({ item, answer, onClose, onDone }: AnswerFormProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const words = WORDS[answer];
  const [text, setText] = useState<string>(words.start);
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const send = async (): Promise<void> => {
    setPending(true);
    setError(null);
    const { workflowId, executionId } = item;
    try {
      const value = parseJson(text);
      await (answer === 'complete'
        ? client.workflows.completeActivity(workflowId, executionId, value)
        : client.workflows.failActivity(workflowId, executionId, value));
      say(words.said);
      onDone();
      onClose();
    } catch (problem) {
      setError(problem);
      setPending(false);
    }
  };
  return (
    <FormDialog title={words.title} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label className="field">
          <span>{words.field}</span>
          <textarea
            rows={6}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {error !== null && <ProblemView error={error} />}
        <p className="hint">{words.note}</p>
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={answer === 'fail' ? 'danger' : 'primary'}
            needs="controller"
            isPending={isPending}
          >
            {words.submit}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}

import type { ActivityItem } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { DialogForm } from '../../components/dialog-form.js';
import { JsonField } from '../../components/json-field.js';
import { jsonProblem, readJsonText } from '../../components/json-text.js';
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
  readonly item: Pick<ActivityItem, 'workflowId' | 'executionId'>;
  readonly answer: Answer;
  /** The activity, unless the page already shows it. */
  readonly target?: ReactNode;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Completes or fails a work item in place of its worker. */
export function AnswerForm(props: AnswerFormProps): ReactNode {
  const { item, answer, target, onClose, onDone } = props;
  const { client } = useSession();
  const { say } = useToasts();
  const words = WORDS[answer];
  const [text, setText] = useState<string>(words.start);
  const send = async (): Promise<void> => {
    const { workflowId, executionId } = item;
    const end = answer === 'complete' ? 'completeActivity' : 'failActivity';
    await client.workflows[end](workflowId, executionId, readJsonText(text));
    say(words.said);
    onDone();
  };
  return (
    <DialogForm
      title={words.title}
      submit={words.submit}
      isDangerous={answer === 'fail'}
      isInvalid={jsonProblem(text) !== null}
      hint={words.note}
      onSubmit={send}
      onClose={onClose}
    >
      {target}
      <JsonField autoFocus label={words.field} value={text} onChange={setText} />
    </DialogForm>
  );
}

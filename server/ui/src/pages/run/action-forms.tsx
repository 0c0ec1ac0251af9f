/** Forms that provide the event or result a run is waiting for. */
import type { WaitReason } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { DialogForm } from '../../components/dialog-form.js';
import { JsonField } from '../../components/json-field.js';
import { jsonProblem, readJsonText } from '../../components/json-text.js';
import { useToasts } from '../../components/toasts.js';
import { AnswerForm } from '../activities/answer-form.js';

export type FormKind = 'publish-event' | 'complete-activity' | 'fail-activity';

interface FormProps {
  readonly workflowId: string;
  readonly reason: WaitReason;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ActionForm({ kind, ...props }: FormProps & { readonly kind: FormKind }): ReactNode {
  const { workflowId, reason, onClose, onDone } = props;
  if (kind === 'publish-event') return <EventForm {...props} />;
  const { executionId } = reason;
  if (executionId === null) return null;
  return (
    <AnswerForm
      item={{ workflowId, executionId }}
      answer={kind === 'complete-activity' ? 'complete' : 'fail'}
      target={<Target text={reason.activityName ?? reason.stepId ?? ''} />}
      {...{ onClose, onDone }}
    />
  );
}

/** Publishes the event that a step is waiting for. */
function EventForm({ workflowId, reason, onClose, onDone }: FormProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [text, setText] = useState('{}');
  const { eventName: name = '', eventKey: key = '' } = reason;
  const publish = async (): Promise<void> => {
    await client.events.publish(name, key, readJsonText(text), { workflowId });
    say('The event was published.');
    onDone();
  };
  return (
    <DialogForm
      title="Publish the event"
      submit="Publish"
      isInvalid={jsonProblem(text) !== null}
      hint="Every run that is waiting for this event gets it, not only this one."
      onSubmit={publish}
      onClose={onClose}
    >
      <Target text={`${name} / ${key}`} />
      <JsonField autoFocus label="Event data (JSON)" value={text} onChange={setText} />
    </DialogForm>
  );
}

function Target({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="action-target">
      <bdi>{text}</bdi>
    </p>
  );
}

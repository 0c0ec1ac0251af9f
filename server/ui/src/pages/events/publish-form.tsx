import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { DialogForm } from '../../components/dialog-form.js';
import { JsonField } from '../../components/json-field.js';
import { jsonProblem, readJsonText } from '../../components/json-text.js';
import { useToasts } from '../../components/toasts.js';

interface PublishFormProps {
  readonly initialName: string;
  readonly initialKey: string;
  readonly onClose: () => void;
  readonly onPublished: () => void;
}

/** Publishes an event with any JSON value as its data. */
export function PublishForm(props: PublishFormProps): ReactNode {
  const { onClose, onPublished } = props;
  const { client } = useSession();
  const { say } = useToasts();
  const [name, setName] = useState(props.initialName);
  const [key, setKey] = useState(props.initialKey);
  const [data, setData] = useState('{}');
  const publish = async (): Promise<void> => {
    const { deliveredTo } = await client.events.publish(name, key, readJsonText(data));
    say(publishedText(deliveredTo));
    onPublished();
  };
  return (
    <DialogForm
      title="Publish an event"
      submit="Publish"
      isInvalid={jsonProblem(data) !== null}
      hint="Every run that is waiting for this name and key gets the event. Runs that wait for it later can take it, too."
      onSubmit={publish}
      onClose={onClose}
    >
      <label className="field">
        <span>Name</span>
        <input required value={name} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className="field">
        <span>Key</span>
        <input required value={key} onChange={({ target }) => setKey(target.value)} />
      </label>
      <JsonField label="Data (any JSON value)" value={data} onChange={setData} />
    </DialogForm>
  );
}

function publishedText(deliveredTo: number): string {
  if (deliveredTo === 0) return 'Published. No run was waiting: check name and key.';
  return `Published. ${deliveredTo} waiting ${deliveredTo === 1 ? 'run' : 'runs'} got the event.`;
}

import { parseJson } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { ProblemView } from '../../components/problem-view.js';
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
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const publish = async (): Promise<void> => {
    setPending(true);
    setError(null);
    try {
      const { deliveredTo } = await client.events.publish(name, key, readJson(data));
      say(publishedText(deliveredTo));
      onPublished();
      onClose();
    } catch (problem) {
      setError(problem);
      setPending(false);
    }
  };
  return (
    <FormDialog title="Publish an event" onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void publish();
        }}
      >
        <label className="field">
          <span>Name</span>
          <input required value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="field">
          <span>Key</span>
          <input required value={key} onChange={({ target }) => setKey(target.value)} />
        </label>
        <DataField value={data} onChange={setData} />
        {error !== null && <ProblemView error={error} />}
        <p className="hint">
          Every run that is waiting for this name and key gets the event. Runs that wait for it
          later can take it, too.
        </p>
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" needs="controller" isPending={isPending}>
            Publish
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}

interface DataFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function DataField({ value, onChange }: DataFieldProps): ReactNode {
  return (
    <label className="field">
      <span>Data (any JSON value)</span>
      <textarea
        rows={6}
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

function publishedText(deliveredTo: number): string {
  if (deliveredTo === 0) return 'Published. No run was waiting: check name and key.';
  return `Published. ${deliveredTo} waiting ${deliveredTo === 1 ? 'run' : 'runs'} got the event.`;
}

function readJson(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
}

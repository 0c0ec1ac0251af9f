import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { ProblemView } from '../../components/problem-view.js';
import { readJsonObject } from './read-json-object.js';

/** Starts a run with data and an optional reference, then opens it. */
export function StartForm({
  definitionId,
  onClose,
}: {
  readonly definitionId: string;
  readonly onClose: () => void;
}): ReactNode {
  const { client } = useSession();
  const [, navigate] = useLocation();
  const [data, setData] = useState('{}');
  const [reference, setReference] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const start = async (): Promise<void> => {
    setPending(true);
    setError(null);
    try {
      const options = reference === '' ? {} : { reference };
      const { id } = await client.workflows.start(definitionId, readJsonObject(data), options);
      navigate(toPath('runs', id));
    } catch (problem) {
      setError(problem);
      setPending(false);
    }
  };
  return (
    <FormDialog title={`Start ${definitionId}`} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label className="field">
          <span>Data (JSON object)</span>
          <textarea
            rows={8}
            spellCheck={false}
            value={data}
            onChange={({ target }) => setData(target.value)}
          />
        </label>
        <label className="field">
          <span>Reference to find the run by (optional)</span>
          <input value={reference} onChange={({ target }) => setReference(target.value)} />
        </label>
        {error !== null && <ProblemView error={error} />}
        <p className="hint">The run uses the latest version.</p>
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" needs="controller" isPending={isPending}>
            Start
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}

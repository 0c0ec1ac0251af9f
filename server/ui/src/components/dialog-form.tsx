import { useState, type ReactNode } from 'react';
import { useSession, type Scope } from '../app/session.js';
import { Button } from './button.js';
import { FormDialog } from './confirm-dialog.js';
import { ProblemView } from './problem-view.js';

interface DialogFormProps {
  readonly title: string;
  /** The text of the button that sends the form. */
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** The form can't be submitted in its current state. */
  readonly isInvalid?: boolean;
  readonly hint: string;
  /** The scope required to submit. */
  readonly needs?: Scope;
  /** Sends the form. The dialog shows the error if the promise rejects, and closes if it resolves. */
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form of a controller in a dialog. */
export function DialogForm(props: DialogFormProps): ReactNode {
  const { title, submit, isDangerous = false, isInvalid = false, hint, children } = props;
  const { needs = 'controller', onSubmit, onClose } = props;
  const { noticeFailure } = useSession();
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const send = async (): Promise<void> => {
    setPending(true);
    setError(null);
    try {
      await onSubmit();
      onClose();
    } catch (problem) {
      noticeFailure(problem);
      setError(problem);
      setPending(false);
    }
  };
  return (
    <FormDialog title={title} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isInvalid) void send();
        }}
      >
        {children}
        {error !== null && <ProblemView error={error} />}
        <p className="hint">{hint}</p>
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={isDangerous ? 'danger' : 'primary'}
            needs={needs}
            isDisabled={isInvalid}
            isPending={isPending}
          >
            {submit}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}

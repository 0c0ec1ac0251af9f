import { useState, type ReactNode } from 'react';
import { Button } from '../components/button.js';
import { FormDialog } from '../components/confirm-dialog.js';
import { useSession } from './session.js';

/** Shown instead of a page when the server requires a token. */
export function SignIn({ reason }: { readonly reason: string }): ReactNode {
  return (
    <section className="sign-in panel">
      <h1 tabIndex={-1}>Sign in</h1>
      <SignInForm reason={reason} />
    </section>
  );
}

/** Shown over a page, which keeps what the user has typed, when the token has expired. */
export function SignInDialog({ reason }: { readonly reason: string }): ReactNode {
  const { signOut } = useSession();
  return (
    <FormDialog title="Sign in again" isDismissable={false} onClose={() => undefined}>
      <SignInForm reason={reason}>
        <p className="hint">
          The page behind keeps what you have typed if the new token has the same user and scopes.
        </p>
        <Button onPress={signOut}>Sign out</Button>
      </SignInForm>
    </FormDialog>
  );
}

function SignInForm({
  reason,
  children,
}: {
  readonly reason: string;
  readonly children?: ReactNode;
}): ReactNode {
  const { signIn } = useSession();
  const [text, setText] = useState('');
  const [isShown, setShown] = useState(false);
  const token = text.trim().replace(/^bearer\s+/i, '');
  return (
    <form
      className="sign-in-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (token !== '') signIn(token);
      }}
    >
      <p role="status">{reason}</p>
      <div className="token-field">
        <label className="field">
          <span>Bearer token</span>
          <input
            name="token"
            type={isShown ? 'text' : 'password'}
            value={text}
            autoFocus
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <Button label={isShown ? 'Hide token' : 'Show token'} onPress={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
      </div>
      <p className="hint">
        The token needs the scope <code>conductor:viewer</code> to view,{' '}
        <code>conductor:controller</code> to control runs and <code>conductor:author</code> to write
        definitions. The page keeps the token until you close this tab. To create one, run{' '}
        <code>pnpm token</code> on the server.
      </p>
      {children}
      <Button type="submit" variant="primary" isDisabled={token === ''}>
        Sign in
      </Button>
    </form>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { useSession } from '../session.js';
import type { SignInInfo } from './credentials.js';

/** Shown instead of a page when the server requires a token. */
export function SignIn({ reason }: { readonly reason: string }): ReactNode {
  return (
    <section className="sign-in panel">
      <h1 tabIndex={-1}>Sign in</h1>
      <SignInForms reason={reason} />
    </section>
  );
}

/** Shown over a page, which keeps the user's input, when the token has expired. */
export function SignInDialog({ reason }: { readonly reason: string }): ReactNode {
  const { signOut } = useSession();
  return (
    <FormDialog title="Sign in again" isDismissable={false} onClose={() => undefined}>
      <SignInForms reason={reason} isOverPage>
        <p className="hint">
          The page behind keeps what you have typed if the new token has the same user and scopes.
        </p>
        <Button onPress={signOut}>Sign out</Button>
      </SignInForms>
    </FormDialog>
  );
}

interface FormProps {
  readonly reason: string;
  /** The user must not leave the page behind the form. */
  readonly isOverPage?: boolean;
  readonly children?: ReactNode;
}

function SignInForms({ reason, isOverPage = false, children }: FormProps): ReactNode {
  const { client } = useSession();
  const { data: info, isPending } = useQuery({
    queryKey: ['info'],
    queryFn: () => client.info(),
  });
  if (isPending) return <p role="status">{reason}</p>;
  if (info?.signIn === undefined) return <TokenForm reason={reason}>{children}</TokenForm>;
  return (
    <>
      <p role="status">{reason}</p>
      <IssuerButton signIn={info.signIn} isOverPage={isOverPage} />
      <details>
        <summary>Use a token instead</summary>
        <TokenForm>{children}</TokenForm>
      </details>
    </>
  );
}

function IssuerButton({
  signIn,
  isOverPage,
}: {
  readonly signIn: SignInInfo;
  readonly isOverPage: boolean;
}): ReactNode {
  const begin = async (): Promise<void> => {
    const { beginSignIn } = await import('./issuer.js');
    await beginSignIn(signIn, { isPopup: isOverPage });
  };
  return (
    <Button variant="primary" onPress={() => void begin()}>
      Sign in with {new URL(signIn.issuer).host}
    </Button>
  );
}

function TokenForm({
  reason,
  children,
}: {
  readonly reason?: string;
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
      {reason !== undefined && <p role="status">{reason}</p>}
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
        <code>stepwright token</code>.
      </p>
      {children}
      <Button type="submit" variant="primary" isDisabled={token === ''}>
        Sign in
      </Button>
    </form>
  );
}

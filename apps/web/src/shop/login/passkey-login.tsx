import type { CurrentUser } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { secondFactor } from '../../api/routes.ts'
import { useT } from '../../i18n/login.ts'
import { usePasskey as askPasskey } from '../../kit/passkeys.ts'
import { usePasskeyButton } from './second-step.tsx'

type Props = {
  /** Resolves when the former session has ended. */
  before: () => Promise<unknown>
  onDone: (user: CurrentUser) => void
}

/** Logs in by a passkey alone, without name and password. */
export function PasskeyLogin({ before, onDone }: Props) {
  const t = useT()
  const { alert, ask } = usePasskeyButton(onDone, async () => {
    await before()
    const { ticket, passkey } = await call(secondFactor.passkeyLoginOptions)
    return call(secondFactor.passkeyLogin, { body: { ticket, assertion: await askPasskey(passkey) } })
  })
  return (
    <div className="stack" style={{ marginTop: '1rem' }}>
      {alert}
      <Button
        fullWidth
        variant="default"
        loading={ask.isPending}
        leftSection={<IconKey size={18} aria-hidden />}
        onClick={() => ask.mutate()}
      >
        {t('login.passkey')}
      </Button>
    </div>
  )
}

import type { Confirmation } from '@netlet/contract'
import { ConfirmForm } from '../../account/settings/confirm-form.tsx'
import { call } from '../../api/client.ts'
import { secondFactor } from '../../api/routes.ts'
import { QUESTION } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { Dialog } from '../../kit/dialog.tsx'
import '../../kit/styles/forms.ts'

type Props = { minutes: number; onAnswer: (confirmed: boolean) => void }

export default function ConfirmSessionDialog({ minutes, onAnswer }: Props) {
  const t = useT()
  const send = async ({ password = '', ...rest }: Confirmation) => {
    await call(secondFactor.confirmSession, { body: { password, ...rest } })
    onAnswer(true)
  }
  return (
    <Dialog
      title={t('confirmSession.title')}
      size="sm"
      zIndex={400}
      closeOnEscape
      closeOnClickOutside={false}
      {...{ [QUESTION]: true }}
      onClose={() => onAnswer(false)}
    >
      <div className="stack">
        <p className="dim">{t('confirmSession.body', { minutes })}</p>
        <ConfirmForm both label={t('confirmSession.send')} onConfirm={send} onCancel={() => onAnswer(false)} />
      </div>
    </Dialog>
  )
}

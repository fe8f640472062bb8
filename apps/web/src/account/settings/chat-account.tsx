import type { Confirmation, CurrentUser } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconBrandDiscord } from '@tabler/icons-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { passFocus, useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { ConfirmForm } from './confirm-form.tsx'

/** Connects or disconnects a Discord account, with the password or a second factor. */
export function ChatAccount({ user }: { user: CurrentUser }) {
  const t = useT()
  const [asked, setAsked] = useState<'bind' | 'unbind' | null>(null)
  const ask = useFocusAfterReplace(asked === 'bind')
  const takeOff = useFocusAfterReplace(asked === 'unbind')
  const close = () => setAsked(null)
  const bind = async (confirmation: Confirmation) => {
    const { discord_auth_url } = await call(accounts.bindDiscord, { body: confirmation })
    if (discord_auth_url) window.location.assign(discord_auth_url)
    else notify('bad', t('settings.chatUnavailable'))
  }
  const unbind = async (confirmation: Confirmation) => {
    await call(accounts.unbindDiscord, { body: confirmation })
    notify('good', t('settings.chatDone'))
    close()
    await reloadSession()
    // The Disconnect button disappears with the account.
    if (document.activeElement === takeOff.current || document.activeElement === document.body) passFocus(ask.current)
  }
  const bound = Boolean(user.discord_id)
  return (
    <>
      <p className="dim">
        {user.discord_name ? t('settings.chatBound', { name: user.discord_name }) : t('settings.chatHint')}
      </p>
      {asked ? (
        <ConfirmForm
          key={asked}
          label={asked === 'bind' ? t('settings.chatGo') : t('settings.chatOff')}
          onConfirm={asked === 'bind' ? bind : unbind}
          onCancel={close}
        />
      ) : (
        <div className="row">
          <Button
            ref={ask}
            variant="default"
            leftSection={<IconBrandDiscord size={18} aria-hidden />}
            onClick={() => setAsked('bind')}
          >
            {bound ? t('settings.chatAgain') : t('settings.chatConnect')}
          </Button>
          {bound && (
            <Button ref={takeOff} variant="default" onClick={() => setAsked('unbind')}>
              {t('settings.chatOff')}
            </Button>
          )}
        </div>
      )}
    </>
  )
}

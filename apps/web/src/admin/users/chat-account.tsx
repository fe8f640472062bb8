import type { User } from '@netlet/contract'
import { ActionIcon, Button, Loader } from '@mantine/core'
import { IconBrandDiscord, IconUnlink } from '@tabler/icons-react'
import { useState } from 'react'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useCommand } from '../kit/index.ts'
import classes from './users.module.css'

/** The platform's profile page, by the name before any '#'. */
const profileOf = (name: string) => `https://discord.com/users/${encodeURIComponent(name.split('#')[0] ?? '')}`

/** The bound chat account with its profile. Unbinding applies at once, without Save. */
export function ChatAccount({ user }: { user: User }) {
  const t = useT()
  const [name, setName] = useState(user.discord_name)
  const unbind = useCommand(accounts.unbindUserDiscord, {
    confirm: {
      title: t('users.unbindTitle'),
      body: t('users.unbindBody', { user: user.username, name: name ?? '' }),
      danger: true
    },
    invalidate: [accounts.users, accounts.user]
  })
  const takeOff = async () => {
    if (await unbind.run({ params: { id: user.id } })) setName(null)
  }
  return (
    <div>
      <p className={classes.label}>{t('users.chat')}</p>
      {name ? (
        <div className={classes.chat}>
          <Button
            component="a"
            href={profileOf(name)}
            target="_blank"
            rel="noreferrer noopener"
            variant="default"
            leftSection={<IconBrandDiscord size={18} aria-hidden />}
          >
            {name}
          </Button>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-busy={unbind.running}
            title={t('users.unbind')}
            aria-label={t('users.unbind')}
            onClick={() => void takeOff()}
          >
            {unbind.running ? <Loader size={16} color="gray" aria-hidden /> : <IconUnlink size={18} aria-hidden />}
          </ActionIcon>
        </div>
      ) : (
        <p className="dim">{t('users.noChat')}</p>
      )}
    </div>
  )
}

import { ActionIcon, Skeleton, TextInput } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ComponentProps, Ref } from 'react'
import { read } from '../api/query.ts'
import { accounts } from '../api/routes.ts'
import { useT } from '../i18n/index.ts'
import classes from './captcha-field.module.css'

/** A captcha picture; `id` is sent with the answer. Each picture is valid once, and `renew` loads another. */
export function useCaptcha(enabled: boolean) {
  const { data, refetch, isFetching } = useQuery({
    ...read(accounts.captcha),
    enabled,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false
  })
  return { id: data?.captcha_id, image: data?.captcha_image_base, loading: isFetching, renew: () => void refetch() }
}

type Props = { captcha: ReturnType<typeof useCaptcha>; ref?: Ref<HTMLInputElement> } & ComponentProps<typeof TextInput>

export function CaptchaField({ captcha, ...input }: Props) {
  const t = useT()
  const source = captcha.image?.startsWith('data:') ? captcha.image : `data:image/png;base64,${captcha.image}`
  return (
    <div className={`row start ${classes.field}`} style={{ gap: '0.6rem' }}>
      <TextInput
        label={t('captcha.label')}
        inputMode="numeric"
        autoComplete="off"
        maxLength={6}
        className={classes.input}
        {...input}
      />
      <div className={classes.picture}>
        {captcha.image && !captcha.loading ? (
          <img src={source} alt={t('captcha.picture')} height={36} />
        ) : (
          <Skeleton height={36} width={110} />
        )}
      </div>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={t('captcha.renew')}
        // Not disabled while loading, because a disabled button loses the focus.
        aria-disabled={captcha.loading || undefined}
        data-disabled={captcha.loading || undefined}
        onClick={() => {
          if (!captcha.loading) captcha.renew()
        }}
      >
        <IconRefresh size={18} />
      </ActionIcon>
    </div>
  )
}

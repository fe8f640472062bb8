import { Button } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import { useT } from '../../../i18n/account.ts'
import { CopyButton } from '../../../kit/copy-button.tsx'
import classes from './second-factor.module.css'
import { IconPrinter } from '@tabler/icons-react'

/** New recovery codes, which the server never returns again. They take the focus, because their form has closed. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => box.current?.focus(), [codes])
  return (
    <div ref={box} className={`stack ${classes.sheet}`} role="status" tabIndex={-1}>
      <p>{t('factors.codesOnce')}</p>
      <ol className={`mono ${classes.codes}`} aria-label={t('factors.codes')}>
        {codes.map(code => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className={`row ${classes.tools}`}>
        <CopyButton text={codes.join('\n')} name={t('factors.codes')} size="sm" variant="filled" />
        <Button variant="default" leftSection={<IconPrinter size={18} aria-hidden />} onClick={() => window.print()}>
          {t('factors.codesPrint')}
        </Button>
        <Button variant="default" onClick={onDone}>
          {t('keys.done')}
        </Button>
      </div>
    </div>
  )
}

const section = (title: string, ...paragraphs: string[]): Section => ({ title, paragraphs })

export const policies: Policies = {
  privacy: {
    intro: 'What we keep about you, why we keep it, and for how long. We keep as little as running this shop allows.',
    sections: [
      section(
        'What we collect',
        'When you sign up: your username, your email address and a protected form of your password. If you were invited, who invited you. If you connect a chat-platform account: its ID and its name.',
        'When you order: the plan, its quantity and access rules, the amounts, and the payment references. You enter card and bank details at the payment provider; we never see them.',
        'When you log in: the time, the IP address and its country. They help you and us spot a login that was not yours.'
      ),
      section(
        'What we collect about proxy traffic',
        'To run the service and bill it fairly, our servers count requests and bytes for each proxy. They also keep short connection logs with the time, the proxy and the requested host. We neither read nor record the content of your traffic.',
        'We keep a record of which address was leased to which order, and when. The law may require us to say who held an address at a given time.'
      ),
      section(
        'Why we may do so',
        'We need this data to fulfil our contract with you, and to protect the service and others from abuse. We also need it to meet our duties under tax and telecommunications law.'
      ),
      section(
        'Who else receives your data',
        'The e-commerce platform that takes your payment, and the email service that delivers our messages. If you connect it, the chat platform. Each receives only what its task needs. We do not sell data, and we show no advertising.'
      ),
      section(
        'Cookies and storage',
        'One cookie keeps you logged in. Your browser also remembers your colour scheme, your language and a payment in progress. We use no analytics or advertising cookies.'
      ),
      section(
        'How long we keep your data',
        'We keep account data while your account exists. We keep payment records and the lease history for as long as the law requires. We delete connection logs as soon as we no longer need them to run the service and handle abuse.'
      ),
      section(
        'How we protect your data',
        'We keep passwords as one-way hashes and encrypt secrets at rest. Only people who need access have it. An audit log records every change that an administrator makes.'
      ),
      section(
        'Your rights',
        'You may ask what we hold about you, have it corrected, get a copy, or have your account deleted. The law may require us to keep some of it. Write to us through the ticket form on the Support page.'
      ),
      section(
        'Changes',
        'If this policy changes in a way that affects you, we email you before the change takes effect.'
      )
    ]
  },
  refund: {
    intro: 'Everything we sell is a digital good with immediate delivery. Please read this before you pay.',
    sections: [
      section(
        'All sales are final',
        'Our plans are digital goods: we reserve the addresses for you and take them from stock the moment you order. After you pay an order, there is no refund, replacement or exchange. This applies even if you have not used the proxies.'
      ),
      section(
        'No changes after payment',
        'You cannot change the plan, the location, the quantity or the access rules of an order after you have paid. Please check them in the order summary before you go to the checkout.'
      ),
      section(
        'What is guaranteed',
        'We guarantee the general connectivity of the IP addresses: you can connect to them, and traffic leaves from them. We do not guarantee that a particular site accepts an address, nor a particular speed. We control neither.'
      ),
      section(
        'If something does not work',
        'If an address cannot be reached, send us a ticket with the order number. We fix problems on our side. If we cannot deliver a paid order at once, we deliver it when we have stock. Or support finds a solution with you.'
      ),
      section(
        'Unpaid orders',
        'If you do not pay an order within 30 minutes, we release it and you owe nothing. If your payment arrives later, we deliver the order if its addresses are still available.'
      ),
      section(
        'Your legal rights',
        'By paying you ask for immediate delivery and accept that a right of withdrawal for digital goods ends with it. This does not affect rights that you cannot waive under the law of your country.'
      )
    ]
  },
  terms: {
    intro: 'These terms apply to everyone who visits this shop, holds an account, or uses a proxy leased here.',
    sections: [
      section(
        'Acceptance',
        'By creating an account, placing an order or using a proxy, you accept these terms. You also accept the Privacy Policy and the Refund Policy. If you do not agree with them, please do not use the service.'
      ),
      section(
        'The service',
        'We lease IP addresses as forward proxies for a fixed term. A leased proxy consists of an address, a port, a username and a password. Traffic that you send to it leaves from the same address.'
      ),
      section(
        'Who may use it',
        'You must be of legal age and able to enter into a contract. If you act for a company, you confirm that you may bind it. You may not use the service if you are subject to sanctions.'
      ),
      section(
        'Your account',
        'Give correct details, keep your password to yourself, and tell us immediately if someone else uses your account. You are responsible for what is done through it.'
      ),
      section(
        'Orders and payment',
        'An order is an offer to buy. It reserves the addresses for 30 minutes and becomes binding when you pay at an external checkout. You see the price before you pay; your bank may add taxes and fees.'
      ),
      section(
        'Delivery',
        'After your payment, we set up the proxies automatically, usually within a minute. You find them in your dashboard. If part of an order is late, we deliver the rest first and the remainder follows automatically.'
      ),
      section(
        'Term and renewal',
        'A lease runs for the number of days shown with the plan, and ends unless you renew it. You may renew an order before it expires, and afterwards while we hold its addresses for you. The new term follows the current one. After that, you can no longer renew the order, and we may lease its addresses to others.'
      ),
      section(
        'No refunds',
        'All sales are final. There are no refunds, no replacements and no changes to an order after its payment. The Refund Policy gives the details.'
      ),
      section(
        'Access rules',
        'Your proxies reach some sites only if you bought the access rule with the order. We may lease an address to several customers at once, if their access rules do not overlap.'
      ),
      section(
        'Acceptable use',
        'Use the proxies only as the law and the rules of the sites you visit allow. You decide what you do with them, and you are responsible for it.'
      ),
      section(
        'Prohibited use',
        'You may not send spam, attack or overload systems, scan them without permission, or break into accounts. You may not commit fraud, distribute malware or unlawful content, or infringe the rights of others. You may not resell the proxies without our written consent.'
      ),
      section(
        'Monitoring and abuse',
        'We do not read the content of your traffic. We count requests and bytes, keep short connection logs and look into complaints. If a complaint is justified, we may block destinations, suspend proxies, or close the account.'
      ),
      section(
        'Availability',
        'We guarantee the general connectivity of the addresses. Maintenance, faults of networks and decisions of third parties can interrupt the service. We announce planned work where we can.'
      ),
      section(
        'Third parties',
        'Others provide payment, email and community chat under their own terms. Sites may refuse proxies at their discretion; that is not a defect of the service.'
      ),
      section(
        'Points, coins and codes',
        'Level points, coins, promo codes and gift cards are a voluntary benefit. They have no cash value, and you cannot transfer them. They may expire or decay as shown in your dashboard. You lose those that you obtained by abuse.'
      ),
      section(
        'Intellectual property',
        'The shop, its software, its texts and its marks belong to us or to our licensors. A lease gives you the right to use the addresses for its term, but no ownership of them.'
      ),
      section(
        'Liability',
        'We are liable without limit for intent, gross negligence and injury to life or health. Otherwise, as far as the law allows, our liability is limited to what you paid for the order concerned. We are not liable for lost profit or lost data.'
      ),
      section(
        'Indemnity',
        'Others may make claims against us because you used the proxies in breach of these terms. You then hold us harmless and bear the reasonable costs of our defence.'
      ),
      section(
        'Suspension and termination',
        'You may close your account at any time; paid leases run until they end. We may suspend or close an account that breaches these terms. No refund is due in that case.'
      ),
      section(
        'Changes, law and contact',
        'We may change these terms with at least 14 days’ notice. The terms at the time of an order apply to it. The law of the shop operator’s place of business applies. You keep the protection of the law of your country of residence. Contact us through the ticket form on the Support page. If a clause is void, the others remain in force.'
      )
    ]
  }
}

export type Section = { title: string; paragraphs: string[] }
export type Policy = { intro: string; sections: Section[] }
export type Policies = Record<'privacy' | 'refund' | 'terms', Policy>
